// The urgencies of the jobs that wait or run in some queues, apart from the parts that change with the time.
// They last from cycle to cycle: the next cycle works out only those of jobs that have changed since.
//
// With waiting times all urgencies grow alike. So an urgency is kept as it was, or would have been, at a
// fixed instant, and differences of urgencies stay the same to the last digit. Deadlines are left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

struct Settings;

class Urgencies {
  public:
    // Brings the urgencies up to date with the settings and the tables, for the jobs in these queues.
    void update(const Settings& settings, const Tables& tables, std::span<const QueueSlot> queues);

    // The urgency of a job at the fixed instant, without its deadline.
    double of(const Tables& tables, JobSlot job) const;
    // The part of the urgency by the job's resources.
    double resources(const Tables& tables, JobSlot job) const;
    // The part of the urgency by the job's waiting time at an instant.
    double waiting(const Tables& tables, JobSlot job, Instant now) const;
    // The growth of all urgencies from the fixed instant until `now`.
    double growth(Instant now) const;

    // The least and the greatest urgency of the jobs without a deadline; nullopt: there are no such jobs.
    const std::optional<std::pair<double, double>>& range() const { return range_; }
    // Returns whether all these jobs have the same Priority.
    bool have_one_priority() const { return jobs_of_priority_.size() <= 1; }
    // The urgencies of the jobs that ask for a deadline, whether or not it counts.
    const std::map<JobSlot, double>& with_deadlines() const { return with_deadlines_; }

  private:
    // The facts about the policy that decide about urgencies.
    struct Rules {
        std::vector<NamedWeight> weights;
        double waiting_time = 0;
        std::string size;  // urgency_size
        std::int64_t most_chunks = 0;
        std::vector<QueueSlot> queues;
        std::vector<std::string> excluded;  // exclude_resources
        friend bool operator==(const Rules&, const Rules&) = default;
    };
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    double compute(const Tables& tables, JobSlot job) const;
    double further_chunks(const Tables& tables, JobSlot job, const Request& request) const;
    void forget(JobSlot job);
    void put(const Tables& tables, JobSlot job);
    void find_range();

    Rules rules_;
    std::vector<std::pair<std::uint32_t, double>> weights_;  // by resource
    std::uint32_t deadline_ = kNoResource;
    // A job by its slot, and the range of the urgencies of kInBlock jobs.
    struct Known {
        double urgency = kNone;  // kNone: the job isn't in the queues, or has a deadline
        std::int32_t priority = 0;
    };
    struct Block {
        double least = std::numeric_limits<double>::infinity();
        double greatest = -std::numeric_limits<double>::infinity();
        bool outdated = false;
        void widen(double urgency) {
            least = std::min(least, urgency);
            greatest = std::max(greatest, urgency);
        }
    };
    static constexpr std::size_t kInBlock = 1024;
    std::vector<Known> jobs_;
    std::vector<Block> blocks_;
    std::map<std::int32_t, std::size_t> jobs_of_priority_;  // the number of jobs by Priority
    std::map<JobSlot, double> with_deadlines_;
    std::optional<std::pair<double, double>> range_;
    JobChanges::Position read_running_{};  // how far the logs of changed jobs were read
    JobChanges::Position read_waiting_{};
};

}  // namespace pbs::sched
