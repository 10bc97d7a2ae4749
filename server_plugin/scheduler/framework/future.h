// What the vnodes and limits will be used for: the schedule of the running jobs, and of what the cycle starts
// and reserves.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"
#include "server_plugin/scheduler/future/resource_schedule.h"

namespace pbs::sched {

class Future : CyclePart {
  public:
    Future(CycleContext& context, Queues& queues);
    ~Future();

    Queues& queues() { return queues_; }
    // All running jobs, the reservations that were kept, then the jobs that were started since the last
    // question. Begun with the first one.
    ResourceSchedule& schedule();
    // The same, without what was started since.
    const ResourceSchedule& as_asked_last() const { return schedule_; }

    // Adds what a job will hold: one that was started, or has a reservation of this number.
    void add(JobSlot job, const QueueView& view, std::uint32_t reservation, const Placement& placement,
             const rrule::Interval& when);
    // Takes a preempted job off what its running was expected to use.
    void give_up(const Preempted& preempted);
    // Forgets all reservations, for the jobs to be gone through again.
    void clear_reservations();

  private:
    bool is_kept() const { return in_.keep_pending_jobs && !c_.fake_vnodes; }

    Queues& queues_;
    ResourceSchedule own_;  // of a cycle that leaves nothing behind
    ResourceSchedule& schedule_;
    std::size_t started_in_it_ = 0;       // how many of those that were started are in it
    std::size_t preempted_in_it_ = 0;     // likewise, of those that were preempted
    std::size_t reservations_in_it_ = 0;  // and of the reservations that were kept
};

}  // namespace pbs::sched
