// From legacy files to objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "migrate/configfile.h"
#include "migrate/dedicated_time.h"
#include "migrate/origin_holidays.h"
#include "migrate/pbs_holidays.h"
#include "migrate/report.h"
#include "migrate/sched_policies.h"
#include "objects/commands.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::migrate {

struct Conversion {
    objects::ChangeSet changes;  // to be applied as a whole; empty if everything is there already
    Report report;
};

// The changes that make `current` (null: a fresh server) mean what the files say; either file may be missing.
// - Every option becomes the attribute of default_policy of its name, and algorithm becomes origin.
// - PRIME_TIME_START and PRIME_TIME_END become the time_window prime_time of type prime: Monday to Friday,
//   not on holidays; an end that isn't after the start is on the next day.
// - Holidays are added to the server's non_work_days.
// What is there already is left alone, so that a second conversion of the same files is empty. Problems:
// values that the attributes refuse.
Result<Conversion> convert(const std::optional<ConfigFile>& config,
                           const std::optional<HolidaysFile>& holidays, const objects::Snapshot* current);

// The changes that make `current` (null: a fresh server) mean what a sched_config file (PP-748, interface 1)
// and the holidays and dedicated_time files beside it say; these may be missing.
// - The options become attributes of default_policy. If they differ between prime and non-prime time, they
//   become those of default_policy_prime and default_policy_non_prime as well, and the scheduler `default`
//   gets these as p: and np:; default_policy has the values of prime time then. But where the holidays file
//   says that prime time never is, default_policy has those of non-prime time and there are no others.
// - What the file says of fairshare becomes the fs_group default_fs_group, and fairshare_group of the
//   policies.
// - Prime time becomes the time_windows prime_time, prime_time_2 and so on, of type prime and not on
//   holidays; these are added to the server's non_work_days.
// - Dedicated times become the time_windows dedicated_time, dedicated_time_2 and so on, of type dedicated.
// - Options that are removed are notes: why, and what to use instead.
// What is there already is left alone. `server` names the server's queues and resources.
Result<Conversion> convert(const SchedConfig& file, const std::optional<PbsHolidays>& holidays,
                           const Surroundings& server, const objects::Snapshot* current,
                           const std::optional<DedicatedTime>& dedicated = std::nullopt);

// Was default_policy made by one of these conversions?
bool is_converted(const objects::Snapshot& snapshot);

// The qmgr commands that have the same effect as the changes, one per line.
std::string to_qmgr(const objects::ChangeSet& changes);

}  // namespace pbs::migrate
