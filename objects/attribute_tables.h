// Declares the attribute tables, of which each object type has one in a file of its own
// (policy_attributes.cc, ...). schema.cc looks attributes up in them.
#pragma once

#include <span>
#include <string_view>

#include "objects/schema.h"

namespace pbs::objects {

std::span<const Attribute> policy_attributes();
std::span<const Attribute> time_window_attributes();
std::span<const Attribute> fs_group_attributes();
std::span<const Attribute> quota_attributes();
std::span<const Attribute> server_attributes();
std::span<const Attribute> queue_attributes();
std::span<const Attribute> sched_attributes();

}  // namespace pbs::objects
