// The types of a vnode and of what a job is given of vnodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/request.h"

namespace pbs::sched {

using VnodeSlot = std::uint32_t;

struct Vnode {
    VnodeHandle handle{};
    bool known = false;
    std::string name;
    std::uint32_t host = 0;
    std::uint32_t host_number = 0;  // the number of its host; hosts of vnodes are numbered from 0
    bool free = true;
    std::int32_t priority = 0;
    QueueHandle queue{};
    std::uint32_t partition = 0;
    std::vector<KeptAmount> available;
    std::int64_t load_thousandths = -1;
    std::int64_t system_time_thousandths = -1;
    std::int64_t max_load_thousandths = -1;
    bool busy = false;
    std::int32_t jobs = 0;       // the number of jobs that hold a share of it
    std::int32_t exclusive = 0;  // the number of these jobs that have it for themselves
    Sharing sharing = Sharing::default_shared;
};

// The share of a vnode that a job is given: `count` times chunk number `chunk` of its request, or a piece of
// one such chunk.
struct Part {
    VnodeSlot vnode = 0;
    std::uint32_t chunk = 0;
    std::int64_t count = 0;
    std::uint32_t first_amount = 0;  // of a piece: the index of its first amount in Placement::amounts
    std::uint32_t amounts = 0;       // of a piece: how many amounts it has; 0: the part is of whole chunks
    bool joined = false;             // it is a piece of the same chunk as the part before it
    bool is_piece() const { return amounts > 0; }
};

// Where the chunks of a job are, in the order of the chunks.
struct Placement {
    std::vector<Part> parts;
    std::vector<Need> amounts;  // the amounts of the pieces

    auto begin() const { return parts.begin(); }
    auto end() const { return parts.end(); }
    bool empty() const { return parts.empty(); }
    void clear() {
        parts.clear();
        amounts.clear();
    }
    // Returns how much of each resource a part has. A part of whole chunks has that `count` times.
    std::span<const Need> amounts_of(const Part& part, const Request& request) const {
        if (!part.is_piece()) return request.chunks[part.chunk].needs;
        return std::span(amounts).subspan(part.first_amount, part.amounts);
    }
};

// The size of a node, by which the nodes (ssinodes) of a vnode's share are counted. If cpus is 0, nodes
// aren't counted.
struct NodeSize {
    std::int64_t cpus = 0;
    std::int64_t mem = 0;  // bytes
    // Returns the number of nodes that these processors and this memory make up: the larger of ncpus / cpus
    // and bytes / mem, each rounded up, and at least 1. A negative argument stands for a resource that isn't
    // asked for.
    std::int64_t nodes(std::int64_t ncpus, std::int64_t bytes) const;
    friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

class VnodeRule;  // columns.h

// What a vnode has to satisfy for a job besides having room.
struct PlaceRules {
    std::uint32_t host = 0;  // the job may only be on this host; 0: on any
    NodeSize node_size;      // if it is set, a chunk also needs ssinodes of vnodes that have them
    AskedSharing sharing = AskedSharing::unsaid;
    std::int64_t max_jobs_on_host = 0;     // with fewer jobs on the host one may start; 0: no limit
    std::int64_t max_load_percent = 0;     // of the load average per CPU; 0: no limit
    std::int64_t min_jobs_on_host = 0;     // on a host with fewer jobs the load average doesn't count
    std::int64_t max_systime_percent = 0;  // of CPU time in the system; 0: no limit
    bool load_balancing = false;           // no job on a vnode that is loaded (Inventory::is_loaded)
    // The resources whose values make placement sets, on one of which the job is placed if it fits any;
    // empty: it may be anywhere.
    std::span<const std::uint32_t> groups{};
    const std::vector<bool>* within = nullptr;  // by vnode: only on these; null: on any
    // When the job ends, which tells the reservations that bind it; and when it is ended, which tells the
    // bookings that do.
    Instant ends{};
    Instant hard_ends{};
    // When it starts, and the booking that it is in (Bookings); kNoSlot: it is in none.
    Instant begins{};
    std::uint32_t booking = UINT32_MAX;
    bool without_bookings = false;    // as if there were none
    const VnodeRule* rule = nullptr;  // a further say; null: none
};

}  // namespace pbs::sched
