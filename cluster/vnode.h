// Reads the vnodes of a server from their attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/fields.h"

namespace pbs::cluster {

// The load of the vnode's host. Averages and shares are in thousandths.
struct Load {
    std::int64_t average = -1;      // load average of a minute; -1: unknown
    std::int64_t system_time = -1;  // share of CPU time spent in the system; -1: unknown
    std::int64_t at = 0;            // when the load was measured; 0: unknown
    std::int64_t max = 0;           // no jobs start at this average or above; 0 or less: no maximum
    bool operator==(const Load&) const = default;
};

struct Vnode {
    std::string host;           // resources_available.host, else its Mom
    std::uint32_t state = 0;    // bits of enum pbs_vnode_state
    std::uint32_t sharing = 0;  // one of enum pbs_vnode_sharing
    std::int32_t priority = 0;
    std::string queue;
    std::string partition;
    // resources_available. The values of aoe and eoe are the vnode's present environment (current_aoe,
    // current_eoe), if that is known.
    ResourceList available;
    Load load{};
    bool operator==(const Vnode&) const = default;
};

Vnode vnode_of(AttributeViews attributes);
// The attributes that a status request has to name, so that vnode_of() gets all that it reads.
ifl::Attributes vnode_attributes();

// Reads the attribute `state`, words separated by commas, as bits of enum pbs_vnode_state.
std::uint32_t vnode_state(std::string_view text);

}  // namespace pbs::cluster
