// Reads and writes resource values as OpenPBS does, as the amounts of pbs_plugin.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pbs::cluster {

// The amount of a resource of this kind (enum pbs_resource_kind): a number, bytes, seconds, millionths, or 0
// and 1. 0 for strings, and for a text that isn't a value of the kind.
std::int64_t amount_of(int kind, std::string_view value);

// Writes an amount as in an exec_vnode or a request: sizes in kb, rounded up.
std::string amount_text(int kind, std::int64_t amount);

bool is_text(int kind);

// Reads a whole number. Returns `otherwise` if the text isn't one.
std::int64_t number_of(std::string_view text, std::int64_t otherwise);

// Reads a boolean attribute's value; false for a text that is no boolean.
bool truth_of(std::string_view text);

}  // namespace pbs::cluster
