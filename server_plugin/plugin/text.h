// Strings of the C interface as views, and back. Nothing is copied.
#pragma once

#include <string_view>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::plugin {

inline std::string_view view(pbs_str text) {
    return text.len == 0 ? std::string_view{} : std::string_view{text.ptr, text.len};
}

// Valid as long as what `text` views.
inline pbs_str c_str(std::string_view text) {
    return pbs_str{text.data(), text.size()};
}

}  // namespace pbs::plugin
