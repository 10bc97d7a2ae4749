// What running jobs use of what entities are limited in (model/entity_limits.h). Only what some limit is
// about is counted, so that sites without such limits pay nothing.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/entity_limits.h"

namespace pbs::sched {

// A job, as it is counted.
struct CountedJob {
    Entities entities;
    const Request* request = nullptr;
    Seconds walltime{-1};  // that it asks for; -1: none
};

class EntityUse {
  public:
    // Whose limits they are: the slot of a queue, or the server's.
    static constexpr std::uint32_t kServer = UINT32_MAX - 1;

    // What these limits are about is counted from now on: nothing is, until the running jobs are counted
    // anew.
    void watch(std::uint32_t scope, const EntityLimits& limits);
    bool is_empty() const { return watched_.empty(); }
    void clear() { use_.clear(); }

    void count(std::uint32_t queue, const CountedJob& job, int sign) {
        if (watched_.empty()) return;
        count_in(kServer, job, sign);
        count_in(queue, job, sign);
    }
    // Of an entity that a limit of the scope is about.
    std::int64_t of(std::uint32_t scope, EntityKind kind, std::uint32_t entity,
                    std::uint32_t resource) const {
        const auto found = use_.find({scope, kind, entity, resource});
        return found == use_.end() ? 0 : found->second;
    }

  private:
    struct Watched {
        EntityKind kind;
        std::uint32_t resource;
    };
    void count_in(std::uint32_t scope, const CountedJob& job, int sign);
    // Scope, kind, entity, resource.
    using Key = std::tuple<std::uint32_t, EntityKind, std::uint32_t, std::uint32_t>;
    absl::flat_hash_map<std::uint32_t, std::vector<Watched>> watched_;  // by scope; none is empty
    absl::flat_hash_map<Key, std::int64_t> use_;
};

// Is a job's entity of any kind over one of these soft limits, among those that concern the job?
bool is_over_soft(const EntityLimits& limits, const EntityUse& use, std::uint32_t scope,
                  const CountedJob& job);

}  // namespace pbs::sched
