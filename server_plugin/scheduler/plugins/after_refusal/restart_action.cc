// SCHED_RESTART_ACTION: handles jobs that the first cycle finds queued in a batch queue other than that of
// their submission. They were running when the machine or the server went down.

#include <algorithm>
#include <map>

#include "server_plugin/scheduler/framework/intake.h"
#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

struct FoundAtStart {
    bool first_cycle = true;  // no cycle has run yet
    std::map<JobHandle, QueueSlot> jobs;
};

class RestartFound final : public AfterRefusal, CyclePart {
  public:
    explicit RestartFound(const CycleParts& parts)
        : CyclePart(parts.context),
          queues_(parts.queues),
          intake_(parts.intake),
          judge_(parts.judge),
          found_(in_.memory->own.of<FoundAtStart>()) {
        std::erase_if(found_.jobs, [&](const auto& found) {
            const JobSlot job = t_.jobs.find(found.first);
            return job == kNoSlot || t_.jobs.queue[job] != found.second || is_running(t_.jobs.state[job]);
        });
    }

    bool wants_every_job() const override {
        return !s_.batch_queues.empty() && (found_.first_cycle || !found_.jobs.empty());
    }
    bool takes_in(JobSlot job, QueueSlot queue) override;
    void took_in() override;
    // Makes the next cycle fill the lanes (sorted lists of pending jobs) again, because the lanes lack the
    // jobs that this rule has found in batch queues.
    void remember() override {
        if (wants_every_job()) in_.events->pending_known = false;
    }

  private:
    PoolId pool_for(const QueueView& view) const;
    void restart(JobSlot job);

    Queues& queues_;
    Intake& intake_;
    Judge& judge_;
    FoundAtStart& found_;
    std::vector<JobSlot> to_restart_;
};

bool RestartFound::takes_in(JobSlot job, QueueSlot queue) {
    const JobHandle handle = t_.jobs.handle[job];
    const auto origin = t_.strings.text(t_.jobs.origin_queue[job]);
    if (found_.first_cycle && !origin.empty() && origin != t_.queues[queue].name)
        found_.jobs.emplace(handle, queue);
    if (!found_.jobs.contains(handle)) return false;
    switch (s_.sched_restart_action) {
        case RestartAction::none:
            c_.refuse(job, {ReasonCode::found_at_start, queue});
            return true;
        case RestartAction::restart:
            if (found_.first_cycle) to_restart_.push_back(job);
            return found_.first_cycle;
        case RestartAction::resubmit:
            // This cycle already considers the job in its first queue.
            if (const QueueSlot home = t_.queues.find(origin); home != kNoSlot && t_.queues[home].known)
                c_.moves.emplace_back(job, home);
            return false;
    }
    return false;
}

void RestartFound::took_in() {
    found_.first_cycle = false;
    std::ranges::sort(to_restart_, {}, [&](JobSlot job) { return t_.jobs.sequence[job]; });
    for (const JobSlot job : to_restart_) restart(job);
}

// Restarts a job that ran before. Only missing vnodes prevent that.
void RestartFound::restart(JobSlot slot) {
    Candidate job = c_.candidate(intake_.ordered(slot, JobClass::running));
    Reason reason;
    for (QueueView* view : queues_.batch()) {
        if (view->slot != t_.jobs.queue[slot]) continue;
        c_.set_walltime(job, *view);
        reason = judge_.start_if_room(job, *view, pool_for(*view));
        if (!reason) break;
    }
    if (reason) c_.refuse(slot, reason);
}

// Returns the vnodes of SCHED_HOST, if the queue has any there and doesn't name a host itself; else the
// queue's pool.
PoolId RestartFound::pool_for(const QueueView& view) const {
    if (s_.sched_host.empty() || view.host != 0) return view.pool;
    const PoolId pool = state_.vnodes->pool(view.queue->handle, t_.strings.id(s_.sched_host), in_.partition,
                                            Chunks::whole, c_.node_keys());
    return state_.vnodes->pool_vnodes(pool).empty() ? view.pool : pool;
}

void describe_found(const OwnStates& memory, const Tables& tables, KeptByRules& kept) {
    const auto* found = memory.find<FoundAtStart>();
    if (found == nullptr) return;
    kept.first_cycle = found->first_cycle;
    for (const auto& [job, queue] : found->jobs)
        kept.found_at_start.push_back({job, tables.queues[queue].handle});
}

void restore_found(OwnStates& memory, Tables& tables, const KeptByRules& kept) {
    auto& found = memory.of<FoundAtStart>();
    found.first_cycle = kept.first_cycle;
    for (const FoundJob& each : kept.found_at_start) found.jobs[each.job] = tables.queues.slot(each.queue);
}

}  // namespace

extern const AfterRefusalRule kRestartActionAfterRefusal{
    .name = "restart_action",
    .make = [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
        return std::make_unique<RestartFound>(parts);
    },
    .describe = describe_found,
    .restore = restore_found};

}  // namespace pbs::sched
