// Past usage as a file to look into, sched_priv/decay_usage: written every hour, as the Origin scheduler did
// (sched-config guide, "SORT_BY_PAST_USAGE").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/past_usage.h"

namespace pbs::plugin {

// The format: the day of the week on which it was written, then a line "group:user usage" for each user, in
// this order. What counts is in the store, written with each change; the file isn't read again.
std::string usage_file_text(std::span<const sched::UsageRow> rows, sched::Instant now,
                            const rrule::Zone& zone);

// When the file is due: an hour after the last time, or after it was first asked.
class UsageFileTimer {
  public:
    sched::Instant next(sched::Instant now);
    // True once for each hour.
    bool due(sched::Instant now);

  private:
    std::optional<sched::Instant> last_;
};

}  // namespace pbs::plugin
