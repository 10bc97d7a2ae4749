// Makes records of a trace's jobs, in the form in which a scheduler gets them from a server.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/machine.h"
#include "tools/simulate/trace.h"
#include "values/number.h"

namespace pbs::simulate {

// Convert between a job's index in the trace and the scheduler's handle of the job.
inline sched::JobHandle handle_of(std::uint32_t job) {
    return sched::JobHandle(std::uint64_t{job} + 1);
}
inline std::uint32_t job_of(sched::JobHandle handle) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(handle) - 1);
}

// Returns the index in the trace of the job with this id: 11 for "12.trace". REQUIRES: JobRecords has written
// the id.
inline std::uint32_t job_of(std::string_view id) {
    return values::take_number<std::uint32_t>(id).value_or(1) - 1;
}

// The amounts that jobs request. Jobs whose requests are equal, apart from the walltime, share a list of
// amounts.
class Requests {
  public:
    Requests(const Trace& trace, const Cluster& cluster) : trace_(trace), cluster_(cluster) {}

    // Returns a job's amounts. Errors: the machine doesn't have a resource of the trace, or can't read its
    // value.
    Result<const std::vector<sched::Amount>*> of(const TraceJob& job);

  private:
    struct Key {
        std::uint32_t request;
        std::int64_t cpus;
        std::int64_t mem;
        std::int64_t least_cpus;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t h = key.request;
            for (const std::int64_t part : {key.cpus, key.mem, key.least_cpus})
                h = (h ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL, h ^= h >> 29;
            return h;
        }
    };
    std::vector<sched::Amount> amounts_of(const TraceJob& job);
    sched::Amount text_amount(std::string_view resource, std::string text);

    const Trace& trace_;
    const Cluster& cluster_;
    std::unordered_map<Key, std::vector<sched::Amount>, Hash> made_;
    std::vector<std::unique_ptr<std::string>> texts_;
};

// The resources that the scheduler sets at a job's start, with copies of their texts.
class SetResources {
  public:
    void take(std::span<const sched::Amount> amounts);
    const std::vector<sched::Amount>& all() const { return amounts_; }

  private:
    std::vector<sched::Amount> amounts_;
    std::vector<std::string> texts_;  // amounts_ view these
};

// Fills a record for one job after the other. The texts and amounts of a record are valid until the next
// fill().
class JobRecords {
  public:
    JobRecords(const Trace& trace, const Cluster& cluster, bool checkpoints)
        : trace_(trace),
          requests_(trace, cluster),
          checkpoints_(checkpoints),
          walltime_(*cluster.resource("walltime")),
          ncpus_(*cluster.resource("ncpus")),
          select_(*cluster.resource("select")),
          cput_{*cluster.resource("cput"), 0, {}} {}

    // Fills the record of a job that waits in the queue and was submitted to `origin`. It can't fail if it
    // succeeded before for the same job.
    Result<void> fill(std::uint32_t job, const std::string& origin, sched::QueueHandle queue);
    // Adds resources that the scheduler set at the job's start.
    void add_set(const SetResources& set);
    // Returns the CPUs of a job for which the scheduler set these resources.
    std::int64_t cpus(std::uint32_t job, const SetResources& set) const;
    // Adds the used CPU time, which a server knows when a job has ended or is suspended. If the trace doesn't
    // have the CPU time, the job is taken to have kept all its CPUs busy. `cpus`: those that it had.
    void add_used(std::uint32_t job, Seconds ran, std::int64_t cpus);

    sched::JobRecord& record() { return record_; }

  private:
    const Trace& trace_;
    Requests requests_;
    bool checkpoints_;
    std::uint32_t walltime_;  // the resource's number
    std::uint32_t ncpus_;
    std::uint32_t select_;
    sched::Amount cput_;
    sched::JobRecord record_;
    std::vector<sched::Amount> amounts_;
    std::array<char, 32> id_{};
};

}  // namespace pbs::simulate
