// The future use of vnodes and limits: the schedule of the running jobs, and of the cycle's starts and
// reservations.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"
#include "server_plugin/scheduler/future/resource_schedule.h"

namespace pbs::sched {

class Future : CyclePart {
  public:
    Future(CycleContext& context, Queues& queues);
    ~Future();

    Queues& queues() { return queues_; }
    // Returns the schedule of all running jobs, the kept reservations, and the jobs that were started since
    // the last question. It is made at the first question.
    ResourceSchedule& schedule();
    // The schedule without jobs that were started since the last question.
    const ResourceSchedule& as_asked_last() const { return schedule_; }

    // Adds the holding of a started job, or of a job that has the reservation of this number.
    void add(JobSlot job, const QueueView& view, std::uint32_t reservation, const Placement& placement,
             const rrule::Interval& when);
    // Takes a preempted job off the expected use.
    void give_up(const Preempted& preempted);
    // Forgets all reservations, for the jobs to be gone through again.
    void clear_reservations();

  private:
    bool is_kept() const { return in_.keep_pending_jobs && !c_.fake_vnodes; }

    Queues& queues_;
    ResourceSchedule own_;  // for a cycle that leaves nothing behind
    ResourceSchedule& schedule_;
    std::size_t started_in_it_ = 0;       // how many started jobs are in the schedule
    std::size_t preempted_in_it_ = 0;     // how many preempted jobs are
    std::size_t reservations_in_it_ = 0;  // how many kept reservations are
};

}  // namespace pbs::sched
