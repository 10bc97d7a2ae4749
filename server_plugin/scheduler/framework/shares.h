// A scheduler's data for an fs_group: the tree with its usage, and the formula for the usage that jobs add.
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
    bool loaded = false;  // the host was asked to load its stored usage
    // True if a policy uses the tree. Otherwise it is only stored: usage can be set, and decays, but jobs add
    // nothing.
    bool counts = true;

    // Sets other rules or another tree. True: job_runs() has to be called again for running jobs.
    bool set_group(const FsGroup& group, UsageFormula formula);

    // The job's entity: its owner, group, account or queue, as the fs_group defines; without an fs_group
    // "group:owner".
    FairShares::Node entity(Tables& tables, JobSlot job);
    // The name of the job's entity.
    std::uint32_t entity_name(Tables& tables, JobSlot job) const;
    // Notes that the job runs, or that its use is newly known.
    void job_runs(Tables& tables, JobSlot job, Instant now);
    // Notes that the job ran until now, or that a suspended job doesn't go on. Does nothing if it didn't run.
    void job_ended(Tables& tables, JobSlot job, Instant now);
    // Notes that the job ran until now, and will go on.
    void job_paused(Tables& tables, JobSlot job, Instant now);
    // Adds the usage until now of jobs whose usage isn't linear in their walltime. O(those jobs).
    void bring_up_to_date(Tables& tables, Instant now);
    // The usage that a start of the job adds during the cycle.
    double expected(Tables& tables, JobSlot job);

  private:
    double used_until(Tables& tables, JobSlot job, Instant since, Instant now);
    static UsageFormula::Amounts amounts(Tables& tables, JobSlot job);

    UsageFormula formula_;
    std::vector<JobSlot> uneven_;  // jobs whose usage isn't linear in their walltime
};

}  // namespace pbs::sched
