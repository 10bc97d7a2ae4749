// Any text given as the holidays file of PBS is refused with messages, or converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_pbs_holidays(text, "/sched_priv/holidays");
    if (!file) {
        if (file.error().empty()) std::abort();
        for (const auto& problem : file.error())
            if (problem.message.empty() || pbs::migrate::to_text(problem).size() > 2000) std::abort();
        return 0;
    }
    for (const auto& window : pbs::migrate::prime_windows(*file))
        if (window.rrule.empty() || window.hours.start >= window.hours.end) std::abort();
    if (!pbs::migrate::convert({.pbs_holidays = *file}, {}, nullptr)) std::abort();
    return 0;
}
