// Fuzz target: read_holidays() must refuse any input with a message, or read it as a calendar whose entries
// non_work_days accepts.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rrule/icalendar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const pbs::rrule::Zone zone = pbs::rrule::Zone::utc();
    const auto read = pbs::rrule::read_holidays(text, zone);
    if (!read) {
        if (read.error().message.empty()) std::abort();
        return 0;
    }
    for (const pbs::rrule::HolidayEvent& event : read->holidays) {
        if (!pbs::rrule::NonWorkDays::stored(event.entry, zone)) std::abort();
    }
    for (const pbs::rrule::SkippedEvent& event : read->skipped) {
        if (event.why.empty()) std::abort();
    }
    return 0;
}
