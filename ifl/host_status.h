// Hosts, composed of vnodes, for pbs_stathost().
#pragma once

#include <string_view>
#include <vector>

#include "ifl/reply.h"

namespace pbs::ifl {

/// The host of a vnode: its resources_available.host; empty: the attribute isn't set.
std::string_view host_of(const ObjectStatus& vnode);

/// One entry for each host, in the order of first appearance; a vnode's host is its resources_available.host.
/// A host with one vnode is that vnode. A host with several vnodes gets the host's name, and
/// - of resources_available and resources_assigned of a consumable resource (assigned on some vnode), the
///   sums, in kb if any amount is a size;
/// - the jobs of all vnodes, joined by ", ";
/// - of any other attribute, the common value, or "<various>".
///
/// A reference to another vnode's resource ("@name") isn't counted. `host` limits the list to one host, in
/// any case of letters; empty: all hosts.
std::vector<ObjectStatus> hosts_of_vnodes(const std::vector<ObjectStatus>& vnodes, std::string_view host);

}  // namespace pbs::ifl
