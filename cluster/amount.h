// Values of resources as OpenPBS writes them, and the amounts that the plugin is told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pbs::cluster {

// The amount of a resource of this kind (enum pbs_resource_kind): a number, bytes, seconds, millionths, or
// 0 and 1. 0 for strings, and for what is no value of the kind.
std::int64_t amount_of(int kind, std::string_view value);

// The same the other way around, as exec_vnode and requests have it: sizes in kb, rounded up.
std::string amount_text(int kind, std::int64_t amount);

bool is_text(int kind);

// A whole number; `otherwise` where there is none.
std::int64_t number_of(std::string_view text, std::int64_t otherwise);

// A boolean attribute's value.
bool truth_of(std::string_view text);

}  // namespace pbs::cluster
