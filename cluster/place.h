// The parts of vnodes that jobs and reservations have.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace pbs::cluster {

// Amounts of consumable resources by their ids.
using Amounts = std::map<std::uint32_t, std::int64_t>;

// A chunk's place on a vnode, or that of a part of a chunk that lies on several vnodes of a host.
struct Place {
    std::uint64_t node = 0;  // the vnode's handle
    std::string node_name;
    Amounts amounts;
    bool joined = false;           // a part of the same chunk as the place before it
    bool next_occurrence = false;  // the first place of another occurrence of a standing reservation
};

}  // namespace pbs::cluster
