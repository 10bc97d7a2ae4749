// Fuzz target: parse_allocations() must read any input as an Origin system's file `allocations`, report its
// mistakes, and give data that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_allocations(text, "/acct/allocations");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || pbs::migrate::note_of(mistake).size() > 2000) std::abort();
    if (!pbs::migrate::convert({.allocations = file}, {}, nullptr)) std::abort();
    return 0;
}
