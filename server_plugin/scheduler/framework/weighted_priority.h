// weighted_priority: jobs in descending order of a weighted sum of their Priority, their urgency and their
// tickets.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/framework/tickets.h"
#include "server_plugin/scheduler/framework/urgencies.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::sched {

class WeightedPriority {
  public:
    // The parts of a job's weighted priority.
    struct Terms {
        double resources = 0;  // this and the next two are parts of the urgency
        double waiting = 0;
        double deadline = 0;
        double urgency = 0;       // the sum of these parts
        double urgency_norm = 0;  // from 0 to 1, among all jobs that wait or run
        double priority_norm = 0;
        double tickets = 0;
        double tickets_norm = 0;
        double value = 0;
    };
    // Finds the range of urgencies of the jobs that wait or run in these queues, and gives these jobs tickets
    // if the policy has any. `shares`: its share tree; null: none. `urgencies` are brought up to date; they
    // have to outlive this. O(changed jobs and jobs with deadlines), and O(n / 1024) for n jobs, with O(1024)
    // for each block of jobs whose least or most urgent one has changed or gone; with tickets O(n log n).
    WeightedPriority(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
                     std::span<const QueueSlot> queues, Urgencies& urgencies);

    // Returns the least and the greatest urgency, without the growth that all have in common. While they
    // stay, jobs that don't change themselves keep their order. If no Priority tells jobs apart, they
    // do so with any range, and this is a mark that stands for all of them. nullopt: deadlines or tickets
    // change the order as well.
    using Range = std::pair<double, double>;
    std::optional<Range> lasting_range() const;

    // The number by which jobs are ordered: the sum or, if only urgencies tell jobs apart, the urgency.
    double order(JobSlot job) const;
    // The sum with all its parts.
    Terms terms(JobSlot job) const;
    // The terms of the sum: Priority, urgency, and tickets if the policy has any.
    std::vector<PriorityTerm> table(JobSlot job) const;
    // Returns the sum and its parts as a text for people.
    std::string text(JobSlot job) const;

  private:
    bool by_urgency_alone() const;
    bool are_alike() const;
    Range range_now() const;
    void norm(JobSlot job, Terms& terms) const;
    std::string_view deadline_text(JobSlot job) const;  // empty: the job has none
    double deadline(JobSlot job) const;

    const Settings& settings_;
    const Tables& tables_;
    Instant now_;
    std::uint32_t deadline_resource_;
    const Urgencies& urgencies_;
    bool has_deadlines_ = false;
    std::optional<Range> range_{};  // without the growth that all urgencies have in common
    std::optional<Tickets> tickets_{};
};

}  // namespace pbs::sched
