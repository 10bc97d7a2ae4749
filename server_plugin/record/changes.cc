#include "server_plugin/record/changes.h"

#include <fmt/format.h>

#include <cstdint>

#include "server_plugin/record/record_file.h"

namespace pbs::record {

std::string too_old_text(std::int64_t version) {
    return fmt::format(
        "the changes after version {} aren't known any more, or are of an earlier life of the "
        "server: take a new record",
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
