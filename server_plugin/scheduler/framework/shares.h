// A scheduler's data for an fs_group: the tree with its usage, and the formula by which jobs add to it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/framework/usage_formula.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

class SchedShares {
  public:
    SchedShares(const FsGroup& group, UsageFormula formula) : tree(group), formula_(std::move(formula)) {}

    FairShares tree;
    bool loaded = false;  // its stored usage was asked for
    // A policy goes by it. Else it is only kept: usage can be set, and decays, but jobs add nothing.
    bool counts = true;

    // Sets other rules or another tree. True: running jobs have to be told of again.
    bool set_group(const FsGroup& group, UsageFormula formula);

    // The job's entity: its owner, group, account or queue, as the group says; without one "group:owner".
    FairShares::Node entity(Tables& tables, JobSlot job);
    // The name of the job's entity.
    std::uint32_t entity_name(Tables& tables, JobSlot job) const;
    // Notes that the job runs, or that its use is known anew.
    void job_runs(Tables& tables, JobSlot job, Instant now);
    // Notes that the job ran until now, or was suspended and doesn't go on. Harmless if it didn't run.
    void job_ended(Tables& tables, JobSlot job, Instant now);
    // Notes that the job ran until now, and is to go on.
    void job_paused(Tables& tables, JobSlot job, Instant now);
    // Counts the usage until now of jobs whose usage doesn't grow with their walltime. O(those jobs).
    void bring_up_to_date(Tables& tables, Instant now);
    // The usage that a start of the job adds within the cycle.
    double expected(Tables& tables, JobSlot job);

  private:
    double used_until(Tables& tables, JobSlot job, Instant since, Instant now);
    static UsageFormula::Amounts amounts(Tables& tables, JobSlot job);

    UsageFormula formula_;
    std::vector<JobSlot> uneven_;  // jobs whose usage isn't a line over their walltime
};

}  // namespace pbs::sched
