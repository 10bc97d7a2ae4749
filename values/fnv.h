// The hash FNV-1a with 64 bits (RFC 9923). It notices damage, but isn't safe against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace pbs::values {

// The hash of no bytes.
inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325;

// Returns the hash of the bytes. `before`: the hash of the bytes before them.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t before = kFnvBasis) {
    for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return before;
}

}  // namespace pbs::values
