// Hosts made of vnodes, for pbs_stathost().
#pragma once

#include <string_view>
#include <vector>

#include "ifl/reply.h"

namespace pbs::ifl {

/// One entry for each host, in the order of first appearance; the host of a vnode is its
/// resources_available.host. A host with one vnode is that vnode. Of several, under the host's name:
///  - resources_available and resources_assigned of a consumable resource (one that some vnode has assigned)
///  are
///    the sums, in kb if any amount is a size;
///  - jobs are joined by ", ";
///  - of any other attribute the value they share, or "<various>".
/// A reference to another vnode's resource ("@name") counts for nothing. `host` limits the list to one host,
/// unless it is empty; letter case doesn't matter.
std::vector<ObjectStatus> hosts_of_vnodes(const std::vector<ObjectStatus>& vnodes, std::string_view host);

}  // namespace pbs::ifl
