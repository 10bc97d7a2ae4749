#include "tools/calendar/reservation_times.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ifl/attributes/execvnodes.h"
#include "rrule/series.h"
#include "values/number.h"

namespace pbs::calendar {
namespace {

// More occurrences than any server accepts for a rule; a longer series is cut off.
constexpr std::size_t kMost = 10'000;

rrule::Instant instant(std::int64_t seconds) {
    return rrule::Instant(rrule::Seconds(seconds));
}

std::int64_t number(std::string_view text, std::int64_t otherwise) {
    return values::number<std::int64_t>(text).value_or(otherwise);
}

}  // namespace

std::vector<ReservationTime> reservation_times(const AttributeOf& value) {
    std::vector<ReservationTime> times;
    const rrule::Interval first{instant(number(value("reserve_start"), 0)),
                                instant(number(value("reserve_end"), 0))};
    if (first.end <= first.start) return times;
    times.push_back({first, std::string(value("resv_nodes"))});
    const std::int64_t count = number(value("reserve_count"), 1);
    const std::int64_t index = std::max<std::int64_t>(number(value("reserve_index"), 1), 1);
    if (index >= count) return times;
    const auto zone = rrule::Zone::find(value("reserve_timezone"));
    if (!zone) return times;
    // If the server doesn't report series_start, the series begins with the present occurrence.
    const std::int64_t origin = number(value("series_start"), -1);
    const auto series =
        rrule::series(value("reserve_rrule"), origin < 0 ? first.start : instant(origin), *zone, kMost);
    if (!series) return times;
    const rrule::Seconds length(number(value("series_duration"), (first.end - first.start).count()));
    const auto nodes = ifl::exec_vnodes_in(value("reserve_execvnodes"), kMost);
    // The index of the present occurrence in `nodes`: the number of occurrences that have ended since the
    // server made this list, which has only the occurrences that remained then.
    const std::int64_t passed = index - 1 - (count - static_cast<std::int64_t>(nodes.size()));
    for (std::int64_t i = 1; i <= count - index; ++i) {
        const auto at = static_cast<std::size_t>(origin < 0 ? i : index - 1 + i);
        if (at >= series->starts.size()) break;
        const rrule::Instant start = series->starts[at];
        rrule::Instant end = start + length;
        // End an occurrence where the next one begins: occurrences can overlap when the clock is set forward.
        if (at + 1 < series->starts.size()) end = std::min(end, series->starts[at + 1]);
        const auto place = static_cast<std::size_t>(std::max<std::int64_t>(passed + i, 0));
        times.push_back({{start, end}, place < nodes.size() ? nodes[place] : std::string()});
    }
    return times;
}

}  // namespace pbs::calendar
