// A vnode, and what a job is given of vnodes.
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
    std::uint32_t host_number = 0;  // of the hosts that vnodes are on, from 0
    bool free = true;
    std::int32_t priority = 0;
    QueueHandle queue{};
    std::uint32_t partition = 0;
    std::vector<KeptAmount> available;
    std::int64_t load_thousandths = -1;
    std::int64_t system_time_thousandths = -1;
    std::int32_t jobs = 0;       // that hold a share of it
    std::int32_t exclusive = 0;  // of them, those that want it for themselves
};

// A share of a vnode: `count` times chunk number `chunk` of a request, or a piece of one of these.
struct Part {
    VnodeSlot vnode = 0;
    std::uint32_t chunk = 0;
    std::int64_t count = 0;
    std::uint32_t first_amount = 0;  // of a piece, in Placement::amounts
    std::uint32_t amounts = 0;       // of a piece; 0: these are whole chunks
    bool joined = false;             // a piece of the same chunk as the part before
    bool is_piece() const { return amounts > 0; }
};

// Where the chunks of a job are, in their order.
struct Placement {
    std::vector<Part> parts;
    std::vector<Need> amounts;  // of the pieces

    auto begin() const { return parts.begin(); }
    auto end() const { return parts.end(); }
    bool empty() const { return parts.empty(); }
    void clear() {
        parts.clear();
        amounts.clear();
    }
    // What of each resource a part has, `count` times.
    std::span<const Need> amounts_of(const Part& part, const Request& request) const {
        if (!part.is_piece()) return request.chunks[part.chunk].needs;
        return std::span(amounts).subspan(part.first_amount, part.amounts);
    }
};

// How the nodes (ssinodes) of a vnode's share are reckoned; off when cpus is 0.
struct NodeSize {
    std::int64_t cpus = 0;
    std::int64_t mem = 0;  // bytes
    // The larger of CPUs / cpus and memory / mem, each rounded up; at least 1. Negative: not asked.
    std::int64_t nodes(std::int64_t ncpus, std::int64_t bytes) const;
    friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

// What else a vnode has to satisfy for a job.
struct PlaceRules {
    std::uint32_t host = 0;                // this host only; 0: any
    NodeSize node_size;                    // also wants ssinodes, where vnodes have them
    std::int64_t max_jobs_on_host = 0;     // 0: no limit
    std::int64_t max_load_percent = 0;     // of the load average by CPUs; 0: no limit
    std::int64_t min_jobs_on_host = 0;     // with fewer, the load average doesn't count
    std::int64_t max_systime_percent = 0;  // of CPU time in the system; 0: no limit
    Instant ends{};                        // when the job ends: matters for reserved vnodes
};

}  // namespace pbs::sched
