#include "server_plugin/scheduler/framework/shares.h"

#include <algorithm>

namespace pbs::sched {

bool SchedShares::set_group(const FsGroup& group, UsageFormula formula) {
    if (!tree.set_group(group)) return false;
    formula_ = std::move(formula);
    uneven_.clear();
    return true;
}

std::uint32_t SchedShares::entity_name(Tables& t, JobSlot job) const {
    std::uint32_t name = 0;
    switch (tree.group().entity) {
        case ShareEntity::euser:
            name = t.jobs.owner[job];
            break;
        case ShareEntity::egroup:
            name = t.jobs.group[job];
            break;
        case ShareEntity::queue:
            name = t.strings.id(t.queues[t.jobs.queue[job]].name);
            break;
        case ShareEntity::account:
            if (const auto known = t.accounts.find(job); known != t.accounts.end()) name = known->second;
            break;
        case ShareEntity::egroup_euser:
            break;
    }
    return name != 0 ? name : t.jobs.user[job];
}

FairShares::Node SchedShares::entity(Tables& t, JobSlot job) {
    const std::uint32_t name = entity_name(t, job);
    return tree.entity(name, t.strings.text(name));
}

UsageFormula::Amounts SchedShares::amounts(Tables& t, JobSlot job) {
    UsageFormula::Amounts amounts;
    if (const auto used = t.used.find(job); used != t.used.end()) amounts.used = used->second;
    amounts.asked = t.requests[t.jobs.request[job]].totals;
    amounts.walltime_asked = t.jobs.walltime[job];
    return amounts;
}

void SchedShares::job_runs(Tables& t, JobSlot job, Instant now) {
    const FairShares::Node node = entity(t, job);
    const FairShares::Job running{job, t.jobs.id[job]};
    const Instant since = t.jobs.stime[job];
    if (const auto line = formula_.line(amounts(t, job), t.resources)) {
        std::erase(uneven_, job);
        tree.job_runs(running, node, *line, since);
        return;
    }
    if (std::ranges::find(uneven_, job) == uneven_.end()) uneven_.push_back(job);
    const double walltime = static_cast<double>(std::max(Seconds(0), now - since).count());
    tree.job_runs(running, node, {formula_.value(amounts(t, job), t.resources, walltime), 0}, since);
}

void SchedShares::job_ended(Tables& t, JobSlot job, Instant now) {
    std::erase(uneven_, job);
    if (const auto since = tree.runs_since(job))
        tree.job_ended({job, t.jobs.id[job]}, used_until(t, job, *since, now));
    else
        tree.forget_charge(t.jobs.id[job]);
}

void SchedShares::job_paused(Tables& t, JobSlot job, Instant now) {
    std::erase(uneven_, job);
    if (const auto since = tree.runs_since(job))
        tree.job_paused({job, t.jobs.id[job]}, used_until(t, job, *since, now));
}

double SchedShares::used_until(Tables& t, JobSlot job, Instant since, Instant now) {
    const double walltime = static_cast<double>(std::max(Seconds(0), now - since).count());
    return formula_.value(amounts(t, job), t.resources, walltime);
}

void SchedShares::bring_up_to_date(Tables& t, Instant now) {
    for (const JobSlot job : std::vector(uneven_)) job_runs(t, job, now);
}

double SchedShares::expected(Tables& t, JobSlot job) {
    return formula_.expected(amounts(t, job), t.resources);
}

}  // namespace pbs::sched
