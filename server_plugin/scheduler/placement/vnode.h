// A vnode, and the places of a job on vnodes.
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
    std::uint32_t host_number = 0;  // the number of its host; hosts are numbered from 0
    bool free = true;
    std::int32_t priority = 0;
    QueueHandle queue{};
    std::uint32_t partition = 0;
    std::vector<KeptAmount> available;
    std::int64_t load_thousandths = -1;
    std::int64_t system_time_thousandths = -1;
    std::int64_t max_load_thousandths = -1;
    bool busy = false;
    Sharing sharing = Sharing::default_shared;
};

// A job's share of a vnode: `count` times chunk number `chunk` of its request, or a piece of one such chunk.
struct Part {
    VnodeSlot vnode = 0;
    std::uint32_t chunk = 0;
    std::int64_t count = 0;
    std::uint32_t first_amount = 0;  // of a piece: index of its first amount in Placement::amounts
    std::uint32_t amounts = 0;       // of a piece: its number of amounts; 0: whole chunks
    bool joined = false;             // the part belongs to the same chunk as the one before it
    bool is_piece() const { return amounts > 0; }
    friend bool operator==(const Part&, const Part&) = default;
};

// The places of a job's chunks, in order.
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
    friend bool operator==(const Placement&, const Placement&) = default;
    // Returns the amounts of a part. If it is of whole chunks, these are the amounts of one chunk.
    std::span<const Need> amounts_of(const Part& part, const Request& request) const {
        if (!part.is_piece()) return request.chunks[part.chunk].needs;
        return std::span(amounts).subspan(part.first_amount, part.amounts);
    }
};

// The size of a node, for counting the nodes (ssinodes) of a share of a vnode. If cpus is 0, nodes aren't
// counted.
struct NodeSize {
    std::int64_t cpus = 0;
    std::int64_t mem = 0;  // bytes
    // Returns the number of nodes for these processors and this memory: the larger of ncpus / cpus and bytes
    // / mem, each rounded up, and at least 1. A negative argument: the resource isn't requested.
    std::int64_t nodes(std::int64_t ncpus, std::int64_t bytes) const;
    friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

class VnodeRule;  // columns.h

// The conditions that vnodes have to meet for a job, besides having enough free.
struct PlaceRules {
    std::uint32_t host = 0;  // the job may only be on this host; 0: on any
    NodeSize node_size;      // if set, a chunk also needs ssinodes on vnodes that have them
    AskedSharing sharing = AskedSharing::unsaid;
    std::int64_t max_jobs_on_host = 0;     // a host with this many jobs takes no more; 0: no limit
    std::int64_t max_load_percent = 0;     // maximum load average per CPU; 0: no limit
    std::int64_t min_jobs_on_host = 0;     // with fewer jobs on a host its load doesn't count
    std::int64_t max_systime_percent = 0;  // maximum share of CPU time in the system; 0: no limit
    bool load_balancing = false;           // no job on a loaded vnode (Inventory::is_loaded)
    // A vnode that has one of these resources takes the job only if `request` has it, too.
    std::span<const std::uint32_t> reserved{};
    const Request* request = nullptr;     // the job's request, for `reserved`
    bool spreads = false;                 // apply the request's chunk_order and per_host
    ChunkOrder order = ChunkOrder::fill;  // the policy's order, for a request without chunk_order
    bool prefers = false;                 // apply the request's preferences
    // The resources whose values make placement sets. The job is placed in one set if it fits into any;
    // empty: the job may be anywhere.
    std::span<const std::uint32_t> groups{};
    const std::vector<bool>* within = nullptr;  // by vnode: the permitted ones; null: all
    // The job's expected end, which decides which reservations bind it; and its latest end, which decides
    // which bookings bind it.
    Instant ends{};
    Instant hard_ends{};
    // The job's start; and its booking (Bookings); kNoSlot: none.
    Instant begins{};
    std::uint32_t booking = UINT32_MAX;
    bool without_bookings = false;    // ignore bookings
    const VnodeRule* rule = nullptr;  // a further limit; null: none
};

}  // namespace pbs::sched
