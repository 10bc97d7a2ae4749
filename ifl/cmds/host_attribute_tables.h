// The tables behind host_attributes.h, a file each.
#pragma once

#include <span>

#include "ifl/cmds/host_attributes.h"

namespace pbs::cmds {

std::span<const HostAttribute> server_attributes();
std::span<const HostAttribute> queue_attributes();
std::span<const HostAttribute> node_attributes();
std::span<const HostAttribute> sched_attributes();
std::span<const HostAttribute> resource_attributes();

}  // namespace pbs::cmds
