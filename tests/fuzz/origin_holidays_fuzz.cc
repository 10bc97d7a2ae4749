// Fuzz target: parse_origin_holidays() must read any input as an Origin holidays file, report its mistakes,
// and give days of the year, each of which is converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_origin_holidays(text, "holidays");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    for (const auto& day : file.days)
        if (day.day_of_year < 1 || day.day_of_year > 365) std::abort();
    const auto conversion = pbs::migrate::convert({.origin_holidays = file}, {}, nullptr);
    if (!conversion || conversion->changes.commands.size() != file.days.size()) std::abort();
    return 0;
}
