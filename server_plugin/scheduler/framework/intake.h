// The pending jobs of a cycle: their classes, and the lanes (sorted lists) in which they are.
#pragma once

#include <optional>

#include "server_plugin/scheduler/framework/queues.h"
#include "server_plugin/scheduler/framework/weighted_priority.h"
#include "server_plugin/scheduler/pending/job_size.h"

namespace pbs::sched {

class Intake : CyclePart {
  public:
    Intake(CycleContext& context, Queues& queues);

    // Fills the lanes with all jobs, or updates the lanes of the last cycle.
    void take_in();
    // Returns whether the last cycle's lanes of waiting jobs are still usable: they are sorted by this policy
    // and for the same kind of time (prime or not), and have all jobs except those noted as changed.
    bool knows_jobs();

    PendingJobs& jobs() { return *pending_; }
    const PendingJobs& jobs() const { return *pending_; }
    // The changed jobs, in order. They are considered even if no event could have lifted a refusal of theirs.
    std::span<const News> news() const { return news_; }

    // Replaces the lanes for its own lifetime: while an Again exists, jobs() has only the jobs given to it,
    // in another order.
    class Again {
      public:
        Again(Intake& intake, JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order);
        ~Again() { intake_.pending_ = before_; }
        Again(const Again&) = delete;
        Again& operator=(const Again&) = delete;

      private:
        Intake& intake_;
        PendingJobs* before_;
        PendingJobs own_;
    };

    // Returns the class of a queued job; nullopt: the policy takes no jobs from its queue.
    std::optional<JobClass> class_of(JobSlot job) const;
    OrderedJob ordered(JobSlot job, JobClass job_class);
    // The weighted priorities in this cycle. Computed when first asked for.
    const WeightedPriority& weighted();
    // Returns the job's key now.
    PendingKey key_now(LaneId lane, PendingJobs::Position at) const;
    // The Deal (deal.h) by which the lanes of the class take turns at the instant; null: only keys order the
    // jobs.
    const Deal* deal_of(JobClass job_class, Instant at) const;

  private:
    Instant overdue_from(JobSlot job) const;
    JobClass class_by_time(JobSlot job) const;
    void add_job(JobSlot job, JobClass job_class);
    bool has_no_turn(const OrderedJob& job) { return is_under_threshold(job) || is_refused_before(job); }
    bool is_under_threshold(const OrderedJob& job);
    bool is_refused_before(const OrderedJob& job);
    void collect();
    void add_requeued();
    bool order_lasts();
    bool find_whether_order_lasts();
    bool grows(JobSlot job) const;
    double grown() const;
    bool grows_exactly(JobSlot job) const;
    void load();
    void load(JobClass job_class, bool prime_order, std::vector<std::optional<LeastNeeds>>& needs);
    void renew();
    void find_news();
    std::uint32_t lane_is_of(JobSlot job, JobClass job_class) const;
    std::uint32_t entity_of(JobSlot job, const Deal* deal) const;
    bool is_preempted(JobSlot job) const { return t_.jobs.rare_fields(job).preempted_at != Instant{}; }
    void put_preempted_first(JobSlot job, PendingKey& key) const;
    LaneId lane_of(JobSlot job, JobClass job_class, const Deal* deal) const {
        return pending_->lane(job_class, lane_is_of(job, job_class), entity_of(job, deal), is_preempted(job),
                              grows(job));
    }
    OrderContext order_context() const {
        return {in_.now, s_, t_.jobs, t_.queues, t_.requests, {}, state_.shares, &t_, &state_.own};
    }
    // Returns the deal by which the jobs are divided among lanes. If a deal comes into force only at a later
    // date, the jobs are divided for it already.
    const Deal* lasting_deal_of(JobClass job_class) const { return deal_of(job_class, Instant::max()); }
    PendingJobs::Entry entry_of(const OrderedJob& job, const Chain& chain, const Deal* deal,
                                const LeastNeeds& needs) const;

    Queues& queues_;
    std::optional<Urgencies> own_urgencies_;  // where none are kept from cycle to cycle
    std::optional<WeightedPriority> weighted_;
    PendingJobs* pending_ = &c_.scratch->pending;
    std::array<std::vector<OrderedJob>, 6>& classes_ = c_.scratch->classes;
    std::vector<News>& news_ = c_.scratch->news;
    std::vector<const Filter*> before_turns_;  // the filters with the trait before_turns
    std::optional<std::uint32_t>
        under_threshold_;  // the answer to jobs at or below the threshold, once it is computed
    std::optional<bool> order_lasts_;
    std::vector<std::uint32_t> nodes_of_request_;  // by request: nodes of its queued jobs; 0: not known yet
};

}  // namespace pbs::sched
