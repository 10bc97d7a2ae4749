// Attributes that OpenPBS has and this server hasn't.
#pragma once

#include <span>
#include <string_view>

namespace pbs::host {

// To set one is refused as not supported (PBSE_NOSUP), rather than accepted and ignored; to ask for one is
// right: it is never set. `object_type` is an enum pbs_object_type.
bool known_but_not_here(int object_type, std::string_view name);

// All of them; empty for types without such attributes.
std::span<const std::string_view> known_names(int object_type);

}  // namespace pbs::host
