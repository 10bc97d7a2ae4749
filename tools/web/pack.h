// Packs texts for browsers with gzip.
#pragma once

#include <string>
#include <string_view>

namespace pbs::web {

/// Packs a text with gzip; empty: packing isn't worth it.
std::string packed(std::string_view text);

}  // namespace pbs::web
