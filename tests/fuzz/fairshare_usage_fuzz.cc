// Fuzz target of parse_fairshare_usage(): any bytes as PBS's usage file are converted, and mistakes reported.
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
