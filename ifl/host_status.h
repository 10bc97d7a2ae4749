// Composes hosts of their vnodes, for pbs_stathost().
#pragma once

#include <string_view>
#include <vector>

#include "ifl/reply.h"

namespace pbs::ifl {

/// The host of a vnode: its resources_available.host; empty: the attribute isn't set.
std::string_view host_of(const ObjectStatus& vnode);

/// Returns an object for each host, in the order of first appearance. A host with one vnode is that vnode. A
/// host with several vnodes has the host's name, and these attributes:
/// - resources_available and resources_assigned of a consumable resource, one that is assigned on some vnode:
///   the sum, in kb if any amount is a size;
/// - jobs: those of all vnodes, joined by ", ";
/// - any other attribute: the common value, or "<various>".
///
/// A reference to another vnode's resource ("@name") isn't counted in a sum. `host` limits the list to one
/// host, in any case of letters; empty: all hosts.
std::vector<ObjectStatus> hosts_of_vnodes(const std::vector<ObjectStatus>& vnodes, std::string_view host);

}  // namespace pbs::ifl
