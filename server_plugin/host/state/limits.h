// Limits on queued or running jobs of users, groups, projects and all together, at the server or in a queue:
// max_run, max_queued and the like. The server enforces max_queued and queued_jobs_threshold. The other
// limits are reported to the scheduler, which enforces them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ifl/attributes/entity_limits.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/attributes.h"
#include "server_plugin/host/state/objects.h"
#include "values/sum.h"

namespace pbs::host {

class State;

// Applies a change to the value of a limit attribute, and returns the new value. `type`: the type of the
// limits' amounts. Limits in the result are sorted by letter and name. PBSE_BADATVAL.
Result<std::string> changed_limits(Type type, std::string_view current, std::string_view operand, ifl::Op op);

// Checks, after `name` was set on the server or a queue, that limits in the older spelling and limits in the
// newer one aren't set together, at the server or any queue. `own`: the attributes with the new value.
// PBSE_MIXENTLIMS.
Result<void> check_limit_styles(std::string_view name, const Attributes& own, const State& state);

// The number of some jobs, and the sums of their requests.
struct JobSums {
    int64_t jobs = 0;
    std::map<uint32_t, values::Sum> amounts;  // by resource
    void add(const JobSums& other);
};
// An entity: the jobs that a limit counts together. These are the jobs of one user ('u'), group ('g') or
// project ('p'), or all jobs ('o', with the name PBS_ALL).
struct CountedEntity {
    char kind = 'o';
    std::string_view name;
};
std::array<CountedEntity, 4> entities_of(const Job& job);

// The sums of the requests of each entity's jobs, in each queue and in all queues together.
class EntityCounts {
  public:
    struct Sums {
        JobSums all;
        JobSums not_running;
        int64_t members = 0;  // number of the jobs, including running arrays, which the sums don't count
    };
    void count(const Job& job, const ResourceTable& resources, int64_t by);
    // Returns the sums of an entity in a queue; with queue 0, in all queues. nullptr: the entity has no jobs
    // there.
    const Sums* find(uint64_t queue, const CountedEntity& entity) const;

  private:
    std::unordered_map<std::string, Sums> sums_;
    // The entities of the job that was counted last, with pointers to their sums in all queues and in the
    // job's queue. A copy of an EntityCounts has an empty Last, because the pointers would lead into the
    // original.
    struct Last {
        uint64_t queue = 0;
        std::array<std::string, 4> names;
        std::array<std::array<Sums*, 2>, 4> sums{};

        Last() = default;
        Last(const Last&) : Last() {}
        Last& operator=(const Last&) {
            forget();
            return *this;
        }
        ~Last() = default;
        void forget() { names.fill({}); }
    };
    Last last_;
};

// The jobs that count for limits: the jobs of the state, as the present change leaves them. So a change of
// many jobs at once stays within the limits.
class CountedJobs {
  public:
    explicit CountedJobs(const State& state) : state_(state) {}

    const State& state() const { return state_; }
    // Makes the job count as this change has it.
    void stage(const Job& job);
    // Excludes the job from the counts.
    void forget(uint64_t job);
    // Forgets the jobs that this change has staged or excluded.
    void clear() noexcept {
        unsettled_.clear();
        staged_.clear();
        before_ = {};
        after_ = {};
    }

    // Returns the job as it is counted; nullptr: it isn't counted.
    const Job* find(uint64_t job);
    // Sums one part of the requests, such as the number of jobs, over an entity's jobs in a queue. If `queue`
    // is 0, sums over all queues.
    template <class Part>
    values::Sum sum(uint64_t queue, const CountedEntity& entity, const Part& part);
    // Returns the number of jobs in the queue other than `job`.
    int64_t others_in(const Queue& queue, uint64_t job);

  private:
    void settle();

    const State& state_;
    // Staged jobs that aren't counted yet, because counting costs more than staging, and few changes need the
    // sums.
    std::vector<std::pair<uint64_t, std::optional<Job>>> unsettled_;
    std::unordered_map<uint64_t, std::optional<Job>> staged_;
    EntityCounts before_;  // the jobs of staged_ as they are in the state
    EntityCounts after_;
};

// Checks that the job may be in the queue beside the other jobs there, by max_queued and
// queued_jobs_threshold. A new job has to fit the server's limits, too. PBSE_ENTLIMCT.
Result<void> within_queued_jobs(const Job& job, const Queue& queue, CountedJobs& counted);
// Checks max_queued_res and queued_jobs_threshold_res in the same way. If the job is counted already, its
// present request replaces the earlier one. PBSE_ENTLIMRESC.
Result<void> within_queued_amounts(const Job& job, const Queue& queue, CountedJobs& counted);

}  // namespace pbs::host
