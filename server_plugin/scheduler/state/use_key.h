// The key of a counter for limits: whose jobs count together, and where (in the server, in
// a queue, on a host or in a pool of vnodes).
#pragma once

#include <compare>
#include <cstdint>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

enum class UseScope : std::uint8_t {
    server,     // all jobs
    queue,      // the jobs of a queue; object: its slot
    view,       // the jobs of a queue on the hosts of one view; object: the number of the QueueView
    dedicated,  // the jobs in dedicated queues
    host,       // the jobs on a host; object: the host
    pool,       // all vnodes of a pool together; object: the pool
    own,        // jobs that a rule counts together (OwnLimit), which defines object and `of`
};

struct UseKey {
    UseScope scope = UseScope::server;
    EntityKind entity =
        EntityKind::all;       // all of the scope's jobs, or those of a user, group, project or array
    std::uint32_t object = 0;  // the queue, view, host or pool that UseScope names
    std::uint32_t of = 0;      // the user, group, project or array; 0: all
    friend auto operator<=>(const UseKey&, const UseKey&) = default;

    constexpr bool is_of_owner() const { return entity == EntityKind::user; }
    constexpr bool is_of_group() const { return entity == EntityKind::group; }
};

}  // namespace pbs::sched
