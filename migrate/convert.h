// Converts legacy files to objects.
#pragma once

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
    objects::ChangeSet changes;  // to be applied as a whole; empty if everything is in place already
    // Usage by scope (usage_store.h). It is added only to scopes that have no usage yet.
    objects::UsageBatches usage;
    Report report;
    Ledger ledger;                       // everything that migrations have made, this one included
    std::vector<QueueType> queue_types;  // queues whose execution_type the server is to change
    bool holidays = false;               // a holidays file was converted
    HostWork host;                       // commands about the server's own objects, for the server
};

struct ConvertOptions {
    // Turn a holiday into a rule that needs no yearly update, if one is known (infer_holiday.h).
    bool infer = false;
    // Treat mistakes that the older schedulers only logged as problems: Legacy::mistakes, and formulas that
    // can't be read.
    bool strict = false;
};

// Converts the parsed files. Usage is taken over only once: afterwards the server counts by itself.
//
// The changes give `current` (null: a fresh server) the configuration of the files. `before` is the ledger of
// earlier migrations: values of the same parts that are no longer in the files are taken back, unless
// somebody has changed them since. If a file of an earlier migration is missing now, its contents still
// count; if the ledger doesn't tell enough about them, the files are refused (earlier_files.h). Values that
// are in place already cause no change, so a second conversion of the same files is empty. `server` names the
// server's queues and resources. Problems: values that the attributes refuse.
//
// A configuration of an Origin scheduler:
// - Every option becomes the attribute of the same name of default_policy; algorithm becomes origin.
// - PRIME_TIME_START and PRIME_TIME_END become the time_window prime_time of type prime: Monday to Friday,
//   not on holidays; an end that isn't after the start is on the next day.
// - Holidays are added to the server's non_work_days.
// - decay_usage becomes the users' past usage; allocations and current are reported and left alone.
//
// A sched_config file (PP-748, interface 1) and the files beside it:
// - Options become attributes of default_policy. If they differ between prime and non-prime time, the
//   policies default_policy_prime and default_policy_non_prime are made as well, the scheduler `default` gets
//   them as p: and np:, and default_policy has the values of prime time. But if prime time never comes,
//   by the holidays file, default_policy has the values of non-prime time and is alone.
// - The options of fairshare and the resource_group become the fs_group default_fs_group, which the policies
//   name in fairshare_group.
// - Prime time becomes the time_windows prime_time, prime_time_2 and so on, of type prime and not on
//   holidays; the holidays are added to the server's non_work_days.
// - Dedicated times become the time_windows dedicated_time, dedicated_time_2 and so on, of type dedicated.
// - The older server's backfill_depth and job_sort_formula, and its scheduler `default`'s attributes on
//   preemption, the formula and log_events, become attributes of the policies. They win over the options.
//   If qmgr printed no formula, the one in sched_formula counts.
// - Queues whose names begin with primetime_prefix, nonprimetime_prefix or dedicated_prefix get their
//   execution_type; without a sched_config, the printed queues that begin with p_, np_ or ded do. If there
//   are queues of prime or non-prime time but no holidays file with a year, the time_window prime_time is
//   always open.
// - The usage file becomes the usage of default_fs_group.
// - The rest of the print, about the older server's own objects, is left to the server (host_work.h).
// - Each removed option gets a note: the reason, and the replacement.
//
// A folder of Grid Engine (grid_engine/grid_engine.h): settings become attributes of default_policy and
// default_fs_group; other files become quotas, time_windows and resources of the server.
Result<Conversion> convert(const Legacy& files, const Surroundings& server, const objects::Snapshot* current,
                           const Ledger& before = {}, const ConvertOptions& options = {});

// Returns whether a conversion of an Origin scheduler's configuration or of sched_config made default_policy.
bool is_converted(const objects::Snapshot& snapshot);

// Returns qmgr commands with the effect of the changes, one a line.
std::string to_qmgr(const Conversion& conversion);

}  // namespace pbs::migrate
