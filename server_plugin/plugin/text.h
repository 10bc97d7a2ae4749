// Converts strings of the C interface to views and back, without copies. Checks structs of the C interface.
#pragma once

#include <cstddef>
#include <string_view>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::plugin {

inline std::string_view view(pbs_str text) {
    return text.len == 0 ? std::string_view{} : std::string_view{text.ptr, text.len};
}

// Returns whether the struct exists and is of this version of the interface.
template <class Struct>
bool fits(const Struct* one) {
    return one != nullptr && one->size == sizeof(Struct);
}

// Returns `text` for the C interface, without a copy: the result is valid only as long as the text.
inline pbs_str c_str(std::string_view text) {
    return pbs_str{text.data(), text.size()};
}

}  // namespace pbs::plugin
