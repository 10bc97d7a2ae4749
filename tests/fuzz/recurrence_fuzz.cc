// Any text given as a rule is refused with a message or answers in bounded time.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rrule/window_set.h"

using pbs::rrule::Seconds;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first two bytes are the times of a window, the rest is its rule.
    if (size < 2) return 0;
    const pbs::rrule::Zone zone = *pbs::rrule::Zone::find("America/Los_Angeles");
    const Seconds start{data[0] * 337};
    const Seconds end{data[1] * 337};
    const std::string rule(data + 2, data + size);
    const auto day = pbs::rrule::NonWorkDays::rule_of(rule, zone);
    if (!day && day.error().message.empty()) std::abort();
    const auto window = pbs::rrule::Window::make({rule, start, end, true}, zone);
    if (!window) {
        if (window.error().message.empty()) std::abort();
        return 0;
    }
    const pbs::rrule::WindowSet set({*window});
    const pbs::rrule::Instant now{Seconds{1795248000}};  // 2026-11-21
    const auto change = set.next_change(now);
    if (change && (*change <= now || set.contains(*change) == set.contains(*change - Seconds{1})))
        std::abort();
    const auto inside = set.seconds_inside(now, now + Seconds{864000});
    if (inside < Seconds{0} || inside > Seconds{864000}) std::abort();
    return 0;
}
