// Packs texts for browsers.
#pragma once

#include <string>
#include <string_view>

namespace pbs::web {

/// Packs a text by gzip; empty: packing isn't worth it.
std::string packed(std::string_view text);

}  // namespace pbs::web
