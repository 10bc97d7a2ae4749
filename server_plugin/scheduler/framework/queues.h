// The queues of a cycle: the queues from which the policy takes jobs, and those in which jobs start. Their
// list lasts from cycle to cycle as long as nothing but jobs changes (QueueSetup).
#pragma once

#include <algorithm>

#include "server_plugin/scheduler/framework/context.h"

namespace pbs::sched {

class Queues : CyclePart {
  public:
    explicit Queues(CycleContext& context) : CyclePart(context) {}

    // Sets up the queues of the profile's intake, or updates those of the last cycle.
    void set_up();
    // Adds one queue, whatever the policy.
    QueueView& add_alone(QueueSlot queue);

    // Sets the members of a queue that depend on the time of the state.
    void set_time(QueueView& view) const;

    // Returns whether jobs of the class start in their own queue, by the profile's intake.
    bool starts_in_place(JobClass job_class) const {
        return p_.intake == JobSource::every_queue || is_in_place(job_class);
    }
    bool has_lane_by_user(JobClass job_class) const {
        return job_class == JobClass::normal && !starts_in_place(job_class);
    }
    CandidateQueues& of(const OrderedJob& job);
    CandidateQueues& of(const Lane& lane);
    CandidateQueues& batch() { return setup_.batch; }

    // Counts a running job in a queue, or removes it (sign -1).
    void count_into(QueueView& view, JobSlot job, int sign) const;
    // Returns the views that count this running job.
    std::vector<QueueView*> counting(JobSlot job) const;
    // The dedicated time of a host (0: of the server) that contains an instant or begins next after it, if
    // dedicated time is enforced then.
    std::optional<rrule::Interval> dedicated_time_from(std::uint32_t host, Instant t,
                                                       bool* is_awaited = nullptr) const;
    // The resources of the node_group_key that is in force for the queue's jobs.
    std::vector<std::uint32_t> groups_of(const Queue& queue) const;
    // Returns, by queue slot, the queue's rank among queues in order of priority. O(n log n) at the first
    // call.
    std::span<const std::uint32_t> ranks();

  private:
    void set_dedicated_time(QueueView& view) const;
    void set_windows(QueueView& view) const;
    bool is_early(const QueueView& view) const;
    CandidateQueues views_of(const std::vector<QueueSpec>& specs, bool dedicated);
    QueueView* make_view(QueueSlot slot, std::uint32_t host, bool dedicated);
    void fill_view(QueueView& view);
    void renew_view(QueueView& view);
    void set_booking(QueueView& view) const;
    void renew(CandidateQueues& queues);
    std::int64_t node_limit(const Queue& queue) const;
    bool are_set_up() const;
    void forget();
    void add_named_queues();
    void find_leaving();
    void add_every_queue();
    void add_in_place(QueueSlot queue, const QueueSpec& spec, std::optional<JobClass> job_class);
    bool names_as_dedicated(const Queue& queue) const;
    std::vector<QueueSpec> dedicated_queues() const;

    QueueSetup& setup_ = c_.setup;
    std::vector<CandidateQueues*> of_queue_;  // by queue slot: its element of in_place; null: setup_.batch
    std::vector<std::uint32_t> ranks_;
    // Whether a filter reads the ends of queues' last jobs, now or when options come into force later:
    // searches for a later start (Lookahead) call such a filter in this cycle.
    const bool wants_last_end_ = std::ranges::any_of(p_.filters, [&](const Filter* filter) {
        return (filter->traits & about_last_end) != 0 &&
               (filter->wanted == nullptr || filter->wanted(s_, Instant::max()));
    });
};

}  // namespace pbs::sched
