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
    // if the policy has any. `shares`: its share tree; null: none. O(n log n) for n jobs.
    WeightedPriority(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
                     std::span<const QueueSlot> queues);

    // Returns the least and the greatest urgency. While they stay, jobs that don't change themselves keep
    // their order. nullopt: time (waiting times, deadlines) or tickets change the order as well.
    using Range = std::pair<double, double>;
    std::optional<Range> lasting_range() const;

    Terms terms(JobSlot job) const;
    // The terms of the sum: Priority, urgency, and tickets if the policy has any.
    std::vector<PriorityTerm> table(JobSlot job) const;
    // Returns the sum and its parts as a text for people.
    std::string text(JobSlot job) const;

  private:
    Terms urgency(JobSlot job) const;
    double further_chunks(JobSlot job, const Request& request) const;
    double resources(JobSlot job) const;
    std::string_view deadline_text(JobSlot job) const;  // empty: the job has none
    double deadline(JobSlot job) const;

    const Settings& settings_;
    const Tables& tables_;
    Instant now_;
    std::vector<std::pair<std::uint32_t, double>> weights_;  // by resource
    std::uint32_t deadline_resource_;
    bool has_deadlines_ = false;
    std::optional<double> least_{};
    double greatest_ = 0;
    std::optional<Tickets> tickets_{};
};

}  // namespace pbs::sched
