// A scheduler with a large cluster, for benchmarks: an Origin policy with every option on, five batch queues,
// 100 users, and jobs of many sizes.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched::bench {

// Limits on the running jobs of a user. For the first two, -1 is no limit.
struct UserLimits {
    std::int64_t in_queue = -1;   // max_user_run of each batch queue
    std::int64_t in_server = -1;  // max_user_run of the server
    std::int64_t jobs = 0;        // max_user_run_jobs of the policy; 0: no limit
};

// `yes`: one job has waited so long that a queue is drained for it. The job requests a whole vnode of 64
// CPUs, and on each such vnode, jobs of one CPU run for the next 13 to 100 hours.
enum class Drained : bool { no, yes };

// `yes`: the policy has algorithm standard with fair share among 1,000 users in 20 groups.
enum class Shared : bool { no, yes };

class BigCluster {
  public:
    // Makes `vnodes` vnodes of 4 to 64 CPUs, and `jobs` queued jobs of 1 to 24 CPUs, up to 6 GB, and 10
    // minutes to 12 hours. `tune` may change the policy.
    BigCluster(std::int64_t vnodes, std::int64_t jobs, const UserLimits& limits = {},
               Drained drained = Drained::no, void (*tune)(Settings& policy) = nullptr,
               Shared shared = Shared::no);

    void add_job();
    // Allocates room for `jobs` more jobs in jobs_. So all memory that is allocated later is the scheduler's.
    void reserve(std::int64_t jobs) { jobs_.reserve(jobs_.size() + static_cast<std::size_t>(jobs)); }
    void remove_job(std::uint64_t job);
    // Carries out the decisions of a cycle: starts jobs, sets comments, and removes rejected jobs.
    void apply(const Decisions& decisions);
    // The next functions change the cluster before settle().
    // Limits the running jobs and the CPUs of each user. A third of the users has limits of its own.
    void limit_users();
    // Divides the vnodes into racks of 40. Each job stays in one rack.
    void divide_by_rack();
    // Gives the jobs of one queue, one in a hundred, the right to preempt others.
    void let_preempt();
    // Makes advance reservations of a whole vnode each, which begin from now on, an hour after the other.
    void reserve_vnodes(std::int64_t reservations);
    // Counts the eligible time of jobs.
    void count_eligible_time();
    // Runs two cycles, as a server does at its start. Afterwards every job that can start runs, and the
    // scheduler knows why the others wait. started() then returns the jobs that the first cycle started.
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
        Accrual accrual{};
        std::vector<std::pair<VnodeHandle, std::vector<Amount>>> places;
    };
    void send(std::uint64_t number);
    void drain();
    std::int64_t pick(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution(from, to)(random_);
    }

    void send_vnode(std::size_t number, std::string_view rack_of_it);

    std::vector<std::int64_t> cpus_;  // by vnode
    std::int64_t users_ = 100;
    std::mt19937_64 random_{42};
    std::vector<Job> jobs_{1};  // indexed by the job's number, from 1
    std::uint64_t next_job_ = 1;
    std::vector<std::uint64_t> started_;
};

}  // namespace pbs::sched::bench
