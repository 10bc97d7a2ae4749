#include "server_plugin/record/change_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "server_plugin/record/record_file.h"

namespace pbs::record {

void ChangeLog::note(sched::ObjectRef object) {
    if (keeps_) {
        // An exception leaves the log without the change, or with a name that the next change replaces.
        if (!object.name.empty())
            names_.insert_or_assign(last_ + 1, std::move(object.name));
        else if (!names_.empty())
            names_.erase(last_ + 1);
        changes_.push_back({object.id, object.kind});
    }
    ++last_;
    if (changes_.size() <= kMost) return;
    if (!names_.empty()) names_.erase(last_ - static_cast<std::int64_t>(kMost));
    changes_.pop_front();
}

sched::ObjectRef ChangeLog::object(std::int64_t number) const {
    const auto from_end = static_cast<std::size_t>(last_ - number);
    const Change& change = changes_[changes_.size() - 1 - from_end];
    const auto name = names_.find(number);
    return {change.kind, change.id, name == names_.end() ? std::string() : name->second};
}

std::optional<ChangeLog::Some> ChangeLog::after(std::int64_t version, std::size_t most) const {
    const std::int64_t before = last_ - static_cast<std::int64_t>(changes_.size());
    if (version < before || version > last_) return std::nullopt;
    const std::int64_t until = version + std::min(static_cast<std::int64_t>(most), last_ - version);
    Some some{{}, until};
    std::set<sched::ObjectRef> seen;
    for (std::int64_t number = version + 1; number <= until; ++number)
        if (const sched::ObjectRef changed = object(number); seen.insert(changed).second)
            some.objects.push_back({changed, number});
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
