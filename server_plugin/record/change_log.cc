#include "server_plugin/record/change_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "server_plugin/record/record_file.h"

namespace pbs::record {

void ChangeLog::note(sched::ObjectRef object) {
    ++last_;
    if (!keeps_) return;
    changes_.push_back(std::move(object));
    if (changes_.size() > kMost) changes_.pop_front();
}

std::optional<ChangeLog::Some> ChangeLog::after(std::int64_t version, std::size_t most) const {
    const std::int64_t before = last_ - static_cast<std::int64_t>(changes_.size());
    if (version < before || version > last_) return std::nullopt;
    const auto from = static_cast<std::size_t>(version - before);
    const std::size_t count = std::min(most, changes_.size() - from);
    Some some{{}, version + static_cast<std::int64_t>(count)};
    std::set<sched::ObjectRef> seen;
    for (std::size_t i = 0; i < count; ++i)
        if (const sched::ObjectRef& object = changes_[from + i]; seen.insert(object).second)
            some.objects.push_back({object, version + 1 + static_cast<std::int64_t>(i)});
    return some;
}

std::string too_old_text(std::int64_t version) {
    return fmt::format(
        "the changes after version {} aren't known any more, or the server was started since: take a "
        "new record",
        version);
}

std::string changes_text(const sched::Inspector& scheduler, const ChangeLog::Some& some, sched::Instant now,
                         const std::atomic<bool>& give_up) {
    // The number of bytes after which an answer ends.
    constexpr std::size_t kMostText = std::size_t{256} << 10;
    RecordWriter writer;
    // Name the resources, because amounts are written with these names.
    scheduler.describe_resources([&](const sched::StateRecord& one) { writer.state_names(one); });
    std::int64_t version = some.version;
    for (const ChangeLog::Changed& one : some.objects) {
        if (give_up) break;
        if (writer.text().size() >= kMostText) {
            version = one.first - 1;
            break;
        }
        writer.object(scheduler, one.object);
    }
    return writer.take() +
           fmt::format("{{\"version\":{},\"now\":{}}}\n", version, now.time_since_epoch().count());
}

}  // namespace pbs::record
