// Fuzz target: parse_fairshare_usage() must read any input as PBS's file of fair-share usage, report its
// mistakes, and give data that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_fairshare_usage(text, "/sched_priv/usage");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || pbs::migrate::note_of(mistake).size() > 2000) std::abort();
    if (!pbs::migrate::convert({.usage = file}, {}, nullptr)) std::abort();
    return 0;
}
