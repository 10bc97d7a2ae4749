// Fuzz target: parse_dedicated_time() must read any input as PBS's file dedicated_time, report its mistakes,
// and give data that can be converted, except if the input is very long.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_dedicated_time(text, "/sched_priv/dedicated_time");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    for (const auto& window : pbs::migrate::dedicated_windows(file.periods))
        if (window.rrule.empty() || window.start >= window.end) std::abort();
    // only a file with very many days is refused, as an attribute's value would become too long
    const auto conversion = pbs::migrate::convert({.dedicated_time = file}, {}, nullptr);
    if (!conversion && size < 300) std::abort();
    return 0;
}
