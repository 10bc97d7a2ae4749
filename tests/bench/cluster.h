// Builds a large cluster for benchmarks: an Origin policy with every option on, five queues, 100 users, mixed
// jobs.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched::bench {

// Limits on a user's running jobs; -1: none.
struct UserLimits {
    std::int64_t in_queue = -1;   // max_user_run of each batch queue
    std::int64_t in_server = -1;  // max_user_run of the server
    std::int64_t jobs = 0;        // max_user_run_jobs; 0: none
};

// `yes`: a job has waited so long that a queue is drained for it. The job requests a whole vnode of 64 CPUs,
// and each such vnode has jobs of one CPU for the next 13 to 100 hours.
enum class Drained : bool { no, yes };

// `yes`: a standard policy by fair share, of 1,000 users in 20 groups.
enum class Shared : bool { no, yes };

class BigCluster {
  public:
    // Makes `vnodes` of 4 to 64 CPUs, and `jobs` queued jobs of 1 to 24 CPUs, up to 6 GB, and 10 minutes to
    // 12 hours. `tune` may change the policy.
    BigCluster(std::int64_t vnodes, std::int64_t jobs, const UserLimits& limits = {},
               Drained drained = Drained::no, void (*tune)(Settings& policy) = nullptr,
               Shared shared = Shared::no);

    void add_job();
    // Allocates room for more jobs, so that memory taken later is the scheduler's.
    void reserve(std::int64_t jobs) { jobs_.reserve(jobs_.size() + static_cast<std::size_t>(jobs)); }
    void remove_job(std::uint64_t job);
    // Carries out a cycle's decisions: starts, comments, rejections.
    void apply(const Decisions& decisions);
    // Runs a server's first cycles until every job that can start runs, and each other one has its reason and
    // is known to wait. started() then has the jobs that the first cycle started.
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
    std::vector<Job> jobs_{1};  // by job number
    std::uint64_t next_job_ = 1;
    std::vector<std::uint64_t> started_;
};

}  // namespace pbs::sched::bench
