// Exports the dedicated_time file of PBS.
#include <fmt/format.h>

#include <algorithm>

#include "migrate/export_parts.h"
#include "objects/windows.h"
#include "rrule/window_set.h"

namespace pbs::migrate {
namespace {

using std::chrono::days;

constexpr days kYear{366};
// Dates further ahead aren't exported: such a date in an rrule is a slip.
constexpr days kFurthest{10 * 366};
// The longest time for which a window that is still open may have been open.
constexpr days kBefore{31};

std::string date_text(const rrule::Zone& zone, rrule::Instant t) {
    const auto local = zone.local(t);
    const auto day = std::chrono::floor<days>(local);
    const std::chrono::year_month_day ymd{day};
    const auto minute = std::chrono::duration_cast<std::chrono::minutes>(local - day).count();
    return fmt::format("{:02}/{:02}/{:04} {:02}:{:02}", static_cast<unsigned>(ymd.month()),
                       static_cast<unsigned>(ymd.day()), static_cast<int>(ymd.year()), minute / 60,
                       minute % 60);
}

}  // namespace

Exported export_dedicated_time(const ExportSource& source) {
    Exported out;
    out.text = "# From              to\n";
    const auto until_year = source.now + kYear;
    auto until = until_year;
    std::vector<rrule::Window> windows;
    for (const objects::Object* object : source.snapshot.time_windows_of_type("dedicated")) {
        auto window = objects::make_window(*object, source.zone);
        if (!window) {
            out.left_out.push_back(fmt::format("time_window {}: it never opens", object->name()));
            continue;
        }
        if (const auto last = window->recurrence().last_day()) {
            // Look two days further: a window that opens on the last day may close on the next one.
            until = std::max(until, source.zone.instant(*last) + days{2});
        } else {
            out.left_out.push_back(
                fmt::format("time_window {}: the file has dates only: it has those up to {}", object->name(),
                            date_text(source.zone, until_year)));
        }
        windows.push_back(std::move(*window));
    }
    const auto holidays = rrule::NonWorkDays::parse(source.snapshot.non_work_days(), source.zone);
    const rrule::WindowSet set(std::move(windows), holidays.value_or(rrule::NonWorkDays()));
    until = std::min(until, source.now + kFurthest);
    for (const rrule::Interval& open : set.intervals(source.now - kBefore, until)) {
        if (open.end <= source.now) continue;
        const std::string from = date_text(source.zone, open.start);
        const std::string to = date_text(source.zone, open.end);
        if (from != to) out.text += fmt::format("{} {}\n", from, to);
    }
    return out;
}

}  // namespace pbs::migrate
