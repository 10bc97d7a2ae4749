// The tables themselves, one file per object type (policy_attributes.cc, ...); schema.cc looks things up.
#pragma once

#include <span>
#include <string_view>

#include "objects/schema.h"

namespace pbs::objects {

// Why several attributes aren't acted on.

std::span<const Attribute> policy_attributes();
std::span<const Attribute> time_window_attributes();
std::span<const Attribute> fs_group_attributes();
std::span<const Attribute> server_attributes();
std::span<const Attribute> queue_attributes();
std::span<const Attribute> sched_attributes();

}  // namespace pbs::objects
