// The order in which a cycle considers jobs: the lanes (sorted lists of pending jobs) of a class take turns
// by the profile's deal. In a cycle after events only released jobs have a turn, whose refusals the events
// may have lifted. No event since their refusal can let any other job start, so the cycle starts the same
// jobs as a cycle over all jobs. Comments of jobs that aren't considered stay until the next cycle over all
// jobs.
#pragma once

#include "server_plugin/scheduler/framework/intake.h"
#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/framework/released.h"

namespace pbs::sched {

class Turns : CyclePart {
  public:
    Turns(CycleContext& context, Queues& queues, Intake& intake, Judge& judge, ReleasedJobs& released)
        : CyclePart(context), queues_(queues), intake_(intake), judge_(judge), released_(released) {}

    // Considers the jobs of all classes. False: only a cycle over all jobs knows the order.
    bool consider();
    // Considers the jobs of a class again, in another order, because more starts have become possible.
    void consider_again(JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order);

  private:
    bool consider(std::span<const JobClass> classes);
    Turn turn_of(LaneId lane, JobClass job_class);
    bool above_normal(const Turn& turn) const;
    bool goes_with_queue(const Turn& turn) const;
    bool is_wanted(const CandidateQueues& queues, JobClass job_class);
    void take_over();
    bool considers_any_up_to(JobSlot last);
    bool find_released(Turn& turn, CandidateQueues& queues);
    bool next(Turn& turn, JobClass job_class);
    bool begin(Turn& turn);
    void refresh(std::vector<Turn>& turns);
    void set_level(Turn& turn, std::int64_t level) const;
    void lanes_with_turns(JobClass job_class, std::vector<LaneId>& lanes);
    std::int64_t take(Turn& turn, JobClass job_class);
    void fetch(const Turn& turn, JobClass job_class) const;
    DealContext deal_context(LaneId lane);
    DealtLane dealt_lane(LaneId lane) const;
    std::int64_t begin_of(LaneId lane) { return deal_->begin(deal_context(lane), dealt_lane(lane)); }
    std::vector<UsageLane> users_of(JobClass job_class);
    void deal_in_circle(JobClass job_class);
    std::vector<Turn>::iterator first_of_equals(std::vector<Turn>& tied);
    bool may_start_now(const Turn& turn, JobClass job_class);

    Queues& queues_;
    Intake& intake_;
    Judge& judge_;
    ReleasedJobs& released_;
    bool is_later(const Turn& a, const Turn& b) const;
    void note_ratios(LaneId lane);
    std::size_t state_number() const;

    bool go_with_queues_ = false;         // preempted jobs of the normal level wait for their queue's turn
    std::array<const Deal*, 6> deals_{};  // by class
    const Deal* deal_ = nullptr;          // the deal of the present class
    // With shares: depth_ numbers for each lane, one for each level of the tree from the root down: the usage
    // in proportion to the share, of the lane's entity and the groups above it, when the lane's turn was
    // computed.
    std::vector<double>& ratios_ = c_.scratch->ratios;
    std::size_t depth_ = 0;
    // With round_robin, if a queue has several lanes: the number of its jobs that have had their turn.
    std::vector<std::int64_t> taken_of_queue_;
    std::size_t takes_ = 0;
};

}  // namespace pbs::sched
