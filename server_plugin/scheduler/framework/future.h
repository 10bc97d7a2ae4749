// The future use of vnodes and limits, by running jobs and by the cycle's starts and reservations.
#pragma once

#include "server_plugin/scheduler/framework/queues.h"
#include "server_plugin/scheduler/future/resource_schedule.h"

namespace pbs::sched {

class Future : CyclePart {
  public:
    Future(CycleContext& context, Queues& queues);
    ~Future();

    Queues& queues() { return queues_; }
    // Returns the schedule of all running jobs, the reservations, and the jobs started since the last call.
    // Computed at the first call.
    ResourceSchedule& schedule();
    // Returns the schedule of the last call of schedule(), without jobs started since.
    const ResourceSchedule& as_asked_last() const { return schedule_; }

    // Passes the ends of running jobs in the schedule of the last call (ResourceSchedule::pass()). Null: they
    // have to be counted one by one, as also in a cycle that stores nothing for later ones.
    const PassedEnds* pass(Instant until) { return is_kept() ? schedule_.pass(until) : nullptr; }

    // Adds the use by a started job (`reservation` is kNoSlot), or by the job with this reservation (its
    // index in CycleState::reservations).
    void add(JobSlot job, const QueueView& view, std::uint32_t reservation, const Placement& placement,
             const rrule::Interval& when);
    // Adds the job with this reservation at the next call of schedule().
    void add_later(std::uint32_t reservation) { later_.push_back(reservation); }
    // Returns whether a running job has passed its planned end.
    bool is_late();
    // Returns the use that add() adds.
    ResourceSchedule::Holding holding(JobSlot job, const QueueView& view, std::uint32_t reservation,
                                      const Placement& placement, const rrule::Interval& when) const;
    // Removes a preempted job from the expected use.
    void give_up(const Preempted& preempted);
    // Removes all reservations, before jobs are considered again.
    void clear_reservations();

  private:
    void begin();
    bool is_kept() const { return in_.keep_pending_jobs && !c_.fake_vnodes; }

    Queues& queues_;
    ResourceSchedule own_;  // the schedule in a cycle that stores none for later cycles
    ResourceSchedule& schedule_;
    std::size_t started_in_it_ = 0;       // the number of started jobs in the schedule
    std::size_t preempted_in_it_ = 0;     // the number of preempted jobs that the schedule takes into account
    std::size_t reservations_in_it_ = 0;  // the number of reservations in it
    std::vector<std::uint32_t> later_;    // the reservations to add next
};

}  // namespace pbs::sched
