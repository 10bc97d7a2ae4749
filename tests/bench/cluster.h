// A large cluster for benchmarks: an Origin policy with everything on, five queues, 100 users, mixed jobs.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched::bench {

// What the jobs of a user may be at once; -1: as many as there are.
struct UserLimits {
    std::int64_t in_queue = -1;   // max_user_run of each batch queue
    std::int64_t in_server = -1;  // max_user_run of the server
    std::int64_t jobs = 0;        // max_user_run_jobs; 0: any
};

// With `yes`, a job has waited for so long that a queue is drained for it: it asks for a whole vnode of 64
// CPUs, and jobs of one CPU hold each of these for 13 to 100 hours.
enum class Drained : bool { no, yes };

// With `yes`, the policy is a standard one by fair share, of 1,000 users in 20 groups.
enum class Shared : bool { no, yes };

class BigCluster {
  public:
    // `vnodes` of 4 to 64 CPUs; `jobs` queued jobs of 1 to 24 CPUs, up to 6 GB, and 10 minutes to
    // 12 hours. `tune` may change the policy.
    BigCluster(std::int64_t vnodes, std::int64_t jobs, const UserLimits& limits = {},
               Drained drained = Drained::no, void (*tune)(Settings& policy) = nullptr,
               Shared shared = Shared::no);

    void add_job();
    // Room for so many, so that the memory that is taken later is the scheduler's.
    void reserve(std::int64_t jobs) { jobs_.reserve(jobs_.size() + static_cast<std::size_t>(jobs)); }
    void remove_job(std::uint64_t job);
    // Does what a cycle decided: starts, comments, rejections.
    void apply(const Decisions& decisions);
    // The first cycles of a server: all that can start does, each job is told why it waits, and the waiting
    // jobs are known. Afterwards started() has those of the first one.
    void settle();
    std::uint64_t last_job() const { return next_job_ - 1; }
    const std::vector<std::uint64_t>& started() const { return started_; }

    Scheduler scheduler;
    Instant now;

  private:
    struct Job {
        std::string owner;
        std::int64_t ncpus;
        std::int64_t mem;
        Seconds walltime;
        Instant queued;
        std::uint64_t queue = 1;
        char state = 'Q';
        Instant started{};
        Instant modified{};
        bool has_comment = false;
        std::vector<std::pair<VnodeHandle, std::vector<Amount>>> places;
    };
    void send(std::uint64_t number);
    void drain(std::span<const std::int64_t> cpus);
    std::int64_t pick(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution(from, to)(random_);
    }

    std::int64_t users_ = 100;
    std::mt19937_64 random_{42};
    std::vector<Job> jobs_{1};  // by number
    std::uint64_t next_job_ = 1;
    std::vector<std::uint64_t> started_;
};

}  // namespace pbs::sched::bench
