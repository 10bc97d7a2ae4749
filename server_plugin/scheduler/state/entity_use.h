// Counts the running subjobs of each array, and the use of limited resources by entities' running jobs
// (model/entity_limits.h). Counts only uses with a limit, so that sites without such limits pay nothing.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/entity_limits.h"
#include "values/sum.h"
#include "values/tables.h"

namespace pbs::sched {

// A job with the data that counts.
struct CountedJob {
    Entities entities;
    const Request* request = nullptr;
    Seconds walltime{-1};  // the requested walltime; -1: none
};

class EntityUse {
  public:
    // The scope of the server's limits on the jobs of a partition; other scopes are slots of queues. As in
    // OpenPBS, each scheduler counts only its own jobs.
    static constexpr std::uint32_t server_in(std::uint32_t partition) { return kServer - partition; }
    // The server's limits in all partitions, for watch().
    static constexpr std::uint32_t kServer = UINT32_MAX - 1;

    // Counts the uses that these limits restrict from now on. They are 0 until the running jobs are counted
    // again.
    void watch(std::uint32_t scope, const EntityLimits& limits);
    bool watches_nothing() const { return watched_.empty(); }
    void clear() {
        use_.clear();
        subjobs_.clear();
    }

    void count(std::uint32_t queue, std::uint32_t partition, const CountedJob& job, int sign) {
        if (job.entities.array != 0) count_subjob(job.entities.array, sign);
        if (watched_.empty()) return;
        count_in(kServer, server_in(partition), job, sign);
        count_in(queue, queue, job, sign);
    }
    // Returns the use by no jobs, with the same limits.
    EntityUse without_jobs() const {
        EntityUse none;
        none.watched_ = watched_;
        return none;
    }
    // Adds the use by some jobs (sign 1), or subtracts it (sign -1): by these entities, in the queue and the
    // partition. The use by others, or elsewhere, stays.
    void add(const EntityUse& some, std::uint32_t queue, std::uint32_t partition, const Entities& whose,
             int sign);
    // The use by an entity. REQUIRES: a limit of the scope restricts it.
    std::int64_t of(std::uint32_t scope, EntityKind kind, std::uint32_t entity,
                    std::uint32_t resource) const {
        const auto found = use_.find({scope, kind, entity, resource});
        return found == use_.end() ? 0 : found->second.value();
    }

    // The number of running subjobs of an array (JobTable::array()).
    std::int64_t of_array(std::uint32_t array) const {
        const auto found = subjobs_.find(array);
        return found == subjobs_.end() ? 0 : found->second;
    }

  private:
    void count_subjob(std::uint32_t array, int sign);
    struct Watched {
        EntityKind kind;
        std::uint32_t resource;
    };
    void count_in(std::uint32_t watched_scope, std::uint32_t scope, const CountedJob& job, int sign);
    void add_in(const EntityUse& some, std::uint32_t watched_scope, std::uint32_t scope,
                const Entities& whose, int sign);
    // Scope, kind, entity, resource.
    using Key = std::tuple<std::uint32_t, EntityKind, std::uint32_t, std::uint32_t>;
    values::HashMap<std::uint32_t, std::vector<Watched>> watched_;  // by scope; none is empty
    values::HashMap<Key, values::Sum> use_;
    values::HashMap<std::uint32_t, std::int64_t> subjobs_;  // by array; none is 0
};

// Returns whether the job's owner, group or project, or all jobs together, exceed one of these soft limits.
// Ignores limits on resources that the job doesn't request.
bool is_over_soft(const EntityLimits& limits, const EntityUse& use, std::uint32_t scope,
                  const CountedJob& job);

}  // namespace pbs::sched
