// From legacy files to objects.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "migrate/host_work.h"
#include "migrate/ledger.h"
#include "migrate/legacy.h"
#include "migrate/queue_types.h"
#include "migrate/report.h"
#include "migrate/sched_policies.h"
#include "objects/commands.h"
#include "objects/usage_store.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::migrate {

struct Conversion {
    objects::ChangeSet changes;  // to be applied as a whole; empty if everything is there already
    // Usage by scope (usage_store.h), for scopes that have none yet.
    std::map<std::string, objects::UsageBatch> usage;
    Report report;
    Ledger ledger;                       // what migrations have made, this one included
    std::vector<QueueType> queue_types;  // queues whose execution_type the server is to change
    bool holidays = false;               // a holidays file was converted
    HostWork host;                       // directives for the server, which adds their outcomes to the report
};

struct ConvertOptions {
    // Holidays become the rule that needs no yearly update, where there is one (infer_holiday.h).
    bool infer = false;
    // Mistakes that the older schedulers logged and went on after are problems too: Legacy::mistakes, and a
    // formula that can't be read.
    bool strict = false;
};

// Converts what was read from the files. Usage is taken over once: from then on the server counts by itself.
//
// The changes that make `current` (null: a fresh server) mean what the files say. `before` is what earlier
// migrations made: what is of the same parts and isn't in the files any more is taken back, unless somebody
// has changed it since. What is there already is left alone, so that a second conversion of the same files
// is empty. `server` names the server's queues and resources. Problems: values that the attributes refuse.
//
// A configuration of an Origin scheduler:
// - Every option becomes the attribute of default_policy of its name, and algorithm becomes origin.
// - PRIME_TIME_START and PRIME_TIME_END become the time_window prime_time of type prime: Monday to Friday,
//   not on holidays; an end that isn't after the start is on the next day.
// - Holidays are added to the server's non_work_days.
// - decay_usage becomes the past usage of the users; allocations and current are looked at and stay.
//
// A sched_config file (PP-748, interface 1) and the files beside it:
// - The options become attributes of default_policy. If they differ between prime and non-prime time, they
//   become those of default_policy_prime and default_policy_non_prime as well, and the scheduler `default`
//   gets these as p: and np:; default_policy has the values of prime time then. But where the holidays file
//   says that prime time never is, default_policy has those of non-prime time and there are no others.
// - What the file says of fairshare and the resource_group become the fs_group default_fs_group, and
//   fairshare_group of the policies.
// - Prime time becomes the time_windows prime_time, prime_time_2 and so on, of type prime and not on
//   holidays; these are added to the server's non_work_days.
// - Dedicated times become the time_windows dedicated_time, dedicated_time_2 and so on, of type dedicated.
// - backfill_depth and job_sort_formula of the older server, and what its scheduler `default` had of
//   preemption, of the formula and of log_events, become attributes of the policies, and count before the
//   options; without what qmgr printed, the formula in sched_formula does.
// - Queues whose names begin with primetime_prefix, nonprimetime_prefix and dedicated_prefix get their
//   execution_type. Without a sched_config, the printed queues with p_, np_ and ded do. If the holidays file
//   has no year, or there is none, the time_window prime_time is all of the time for those of prime and
//   non-prime time.
// - The usage file becomes the usage of default_fs_group.
// - What else qmgr printed of the older server's own objects is left to the server (host_work.h).
// - Options that are removed are notes: why, and what to use instead.
Result<Conversion> convert(const Legacy& files, const Surroundings& server, const objects::Snapshot* current,
                           const Ledger& before = {}, const ConvertOptions& options = {});

// Was default_policy made by one of these conversions?
bool is_converted(const objects::Snapshot& snapshot);

// The qmgr commands that have the same effect as the changes, one per line.
std::string to_qmgr(const Conversion& conversion);

}  // namespace pbs::migrate
