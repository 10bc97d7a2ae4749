// Fuzz target of parse_current_usage(): any bytes as the usage of groups at an Origin system are converted,
// and mistakes reported.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_current_usage(text, "/acct/current");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || pbs::migrate::note_of(mistake).size() > 2000) std::abort();
    if (!pbs::migrate::convert({.current = file}, {}, nullptr)) std::abort();
    return 0;
}
