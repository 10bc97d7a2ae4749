// Limits on what users, groups, projects and all jobs together may have queued or running, of the server or
// of a queue: max_run, max_queued and their kin. max_queued and queued_jobs_threshold are the server's to
// hold, the others are told to the scheduler.
#pragma once

#include <array>
#include <cstdint>
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

namespace pbs::host {

class State;

// What an attribute of such limits becomes by a change; `type` is that of the amounts. Limits are kept in the
// order of their letters and names. PBSE_BADATVAL.
Result<std::string> changed_limits(Type type, std::string_view current, std::string_view operand, ifl::Op op);

// Old and new limits can't be set together, anywhere: PBSE_MIXENTLIMS. To be asked when `name` is set on an
// object whose attributes are `own` by now; that is the server or a queue.
Result<void> check_limit_styles(std::string_view name, const Attributes& own, const State& state);

// What jobs that are queued or run ask for together.
struct JobSums {
    int64_t jobs = 0;
    Amounts amounts;
    void add(const JobSums& other);
};
// Whose jobs a limit counts: of one user ('u'), group ('g') or project ('p'), or all ('o', with the name
// PBS_ALL).
struct CountedEntity {
    char kind = 'o';
    std::string_view name;
};
std::array<CountedEntity, 4> entities_of(const Job& job);

// What the jobs of each entity ask for, in each queue and in all of them.
class EntityCounts {
  public:
    struct Sums {
        JobSums all;
        JobSums not_running;
        int64_t members = 0;  // a running array counts as no job, and is here
    };
    void count(const Job& job, const ResourceTable& resources, int64_t by);
    // Null: it has no jobs there. Queue 0: in all of them.
    const Sums* find(uint64_t queue, const CountedEntity& entity) const;

  private:
    std::unordered_map<std::string, Sums> sums_;
    // Whose job was counted last, and what is counted of them, in all queues and in that one. A copy knows
    // nothing: it would point into what it was copied from.
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

// The jobs that limits count: those of the state, as a change has made them so far. So whatever one change
// does with many jobs stays within the limits.
class CountedJobs {
  public:
    explicit CountedJobs(const State& state) : state_(state) {}

    const State& state() const { return state_; }
    // Counts the job as it is now in the place of what it was.
    void stage(const Job& job);
    // Counts the job no more.
    void forget(uint64_t job);

    // The job as it is counted; nullptr: it isn't.
    const Job* find(uint64_t job);
    // The sum of a part of what the jobs of an entity ask for in a queue, or with queue 0 in all of them.
    template <class Part>
    int64_t sum(uint64_t queue, const CountedEntity& entity, const Part& part);
    // How many jobs other than this one are in the queue.
    int64_t others_in(const Queue& queue, uint64_t job);

  private:
    void settle();

    const State& state_;
    // Counting costs more than staging, and few changes ask.
    std::vector<std::pair<uint64_t, std::optional<Job>>> unsettled_;
    std::unordered_map<uint64_t, std::optional<Job>> staged_;
    EntityCounts before_;  // the jobs of staged_ as the state counts them
    EntityCounts after_;
};

// May the job be in the queue beside those that are there, by max_queued and queued_jobs_threshold? A new job
// has to fit the server's limits, too. PBSE_ENTLIMCT.
Result<void> within_queued_jobs(const Job& job, const Queue& queue, CountedJobs& counted);
// The same of max_queued_res and queued_jobs_threshold_res. A job that is counted already is counted as it is
// now in the place of what it was. PBSE_ENTLIMRESC.
Result<void> within_queued_amounts(const Job& job, const Queue& queue, CountedJobs& counted);

}  // namespace pbs::host
