// Fuzz target: parse_pbs_holidays() must read any input as PBS's holidays file, report its mistakes, and
// give data that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_pbs_holidays(text, "/sched_priv/holidays");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    for (const auto& window : pbs::migrate::prime_windows(file))
        if (window.rrule.empty() || window.hours.start >= window.hours.end) std::abort();
    if (!pbs::migrate::convert({.pbs_holidays = file}, {}, nullptr)) std::abort();
    return 0;
}
