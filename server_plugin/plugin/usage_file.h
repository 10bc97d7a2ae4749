// Writes past usage every hour to sched_priv/decay_usage, a file for people to read, as the Origin scheduler
// did (sched-config guide, "SORT_BY_PAST_USAGE").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/past_usage.h"

namespace pbs::plugin {

// Returns the file's text: the present day of the week, then a line "group:user usage" for each user, sorted
// by group and user. Nobody reads the file back, since the store has the usage.
std::string usage_file_text(std::span<const sched::UsageRow> rows, sched::Instant now,
                            const rrule::Zone& zone);

// Decides when the file is to be written: every hour, for the first time an hour after the first call.
class UsageFileTimer {
  public:
    sched::Instant next(sched::Instant now);
    // Returns whether the file is due: true once in each hour.
    bool due(sched::Instant now);

  private:
    std::optional<sched::Instant> last_;
};

}  // namespace pbs::plugin
