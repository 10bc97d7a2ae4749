// Texts packed for the way to a browser.
#pragma once

#include <string>
#include <string_view>

namespace pbs::web {

/// Packed by gzip; empty if that isn't worth it.
std::string packed(std::string_view text);

}  // namespace pbs::web
