// Fuzz target of the recurrence rules of RFC 5545. The input must be refused with a message, or give a rule
// that answers every question within a limited number of steps.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rrule/window_set.h"

namespace {

using namespace pbs::rrule;
using std::chrono::days;

constexpr Instant kNow{Seconds{1795248000}};  // 2026-11-21

void require(bool holds) {
    if (!holds) std::abort();
}

// Limit on steps. The calendar from 1600 to 9999 has 3.1 million days, and each may be considered about ten
// times.
constexpr std::uint64_t kMostSteps = 30'000'000;

// Checks that the answers of a set to several questions agree.
void ask(const WindowSet& set) {
    const auto change = set.next_change(kNow);
    require(!change || (*change > kNow && set.contains(*change) != set.contains(*change - Seconds{1})));
    const auto found = set.at_or_after(kNow);
    require(!found || (found->start < found->end && found->end > kNow && set.contains(found->start)));
    const auto parts = set.intervals(kNow, kNow + days{400});
    for (std::size_t i = 0; i < parts.size(); ++i)
        require(parts[i].start < parts[i].end && (i == 0 || parts[i - 1].end < parts[i].start));
    require(parts.empty() || (found && found->start <= parts.front().start));
}

void expand(const Recurrence& rule) {
    const LocalDay from = std::chrono::floor<days>(rule.zone().local(kNow));
    const auto on = rule.days(from, from + days{40});
    const auto times = rule.occurrences(Local{from}, Local{from} + days{2});
    for (std::size_t i = 1; i < times.size(); ++i) require(times[i - 1] < times[i]);
    require(times.empty() || (!on.empty() && on.front() == std::chrono::floor<days>(times.front())));
    require(rule.period_days() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first two bytes give the window's start and end; the other bytes are its rule.
    if (size < 2) return 0;
    const Zone zone = *Zone::find("America/Los_Angeles");
    const Seconds start{data[0] * 337};
    const Seconds end{data[1] * 337};
    const std::string rule(data + 2, data + size);
    const auto entry = NonWorkDays::stored(rule, zone);
    require(entry || !entry.error().message.empty());
    const auto window = Window::make({rule, start, end, (data[0] & 1) != 0}, zone);
    if (!window) {
        const Error& error = window.error();
        require(!error.message.empty() && (!error.position || *error.position <= rule.size()));
        return 0;
    }
    expand(window->recurrence());
    const std::string days_text = "FREQ=MONTHLY;BYMONTHDAY=13";
    const WindowSet set({*window}, *NonWorkDays::parse({&days_text, 1}, zone));
    ask(set);
    // non_work_days stores a rule in a form that has to be a valid rule, too.
    if (entry) {
        const auto again = Window::make({*entry, start, end, true}, zone);
        require(entry->find('/') != std::string::npos || again.has_value());
    }
    require(window->recurrence().steps() <= kMostSteps);
    return 0;
}
