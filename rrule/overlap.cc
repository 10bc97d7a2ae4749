#include "rrule/overlap.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

constexpr std::int64_t kCycleDays = 146097;
constexpr std::int64_t kCalendarDays = 2932897 + 134774;  // 1601 to 9999

// From then on the offsets of zones repeat every 400 years: tzdata lists changes up to 2037.
constexpr LocalDay kRegularZones{Days{25567}};  // 2040-01-01

LocalDay day_near(Instant t) {
    return LocalDay{std::chrono::floor<Days>(t).time_since_epoch()};
}

// One opening: its day, and its extent in the time in which both windows are compared.
struct Opening {
    LocalDay day;
    Seconds start;
    Seconds end;
};

class Search {
  public:
    Search(const Window& a, const Window& b, Instant from, Instant limit)
        : a_(a),
          b_(b),
          from_(from),
          limit_(limit),
          same_zone_(a.recurrence().zone() == b.recurrence().zone()) {}

    std::optional<Instant> run() {
        const Recurrence& ra = a_.recurrence();
        const Recurrence& rb = b_.recurrence();
        const LocalDay begin = day_near(from_) - Days{4};
        const LocalDay last = std::min(
            {ra.last_day().value_or(kLastDay), rb.last_day().value_or(kLastDay), day_near(limit_) + Days{4}});
        const LocalDay regular = std::max({begin, ra.periodic_from(), rb.periodic_from()});
        const std::int64_t period = common(ra.period_days(), rb.period_days());
        // In one zone, windows that are disjoint on the wall clock are disjoint in time; so a period of the
        // wall clock is enough unless a common hour was hidden by a change of the clock.
        const LocalDay on_the_clock = plus(regular, same_zone_ ? period : common(period, kCycleDays));
        const LocalDay in_time = plus(std::max(regular, kRegularZones), common(period, kCycleDays));
        LocalDay from = begin;
        for (Days step{64}; from <= last && from <= (seen_on_the_clock_ ? in_time : on_the_clock);
             from += step, step = std::min(step * 4, Days{kCycleDays})) {
            if (const auto found = within(from, std::min(from + step, last + Days{1}))) return found;
        }
        return std::nullopt;
    }

  private:
    static std::int64_t common(std::int64_t a, std::int64_t b) {
        // Periods are below 2^15 cycles, so that the product fits.
        return std::min(std::lcm(std::min(a, kCalendarDays), std::min(b, kCalendarDays)), kCalendarDays);
    }
    static LocalDay plus(LocalDay day, std::int64_t days) { return std::min(kLastDay, day + Days{days + 8}); }

    std::vector<Opening> openings(const Window& window, LocalDay from, LocalDay to) const {
        std::vector<Opening> out;
        for (const LocalDay day : window.recurrence().days(from, to)) {
            if (same_zone_) {
                const Seconds midnight = day.time_since_epoch();
                out.push_back({day, midnight + window.start_time(), midnight + window.end_time()});
            } else {
                const Interval on = window.on(day);
                out.push_back({day, on.start.time_since_epoch(), on.end.time_since_epoch()});
            }
        }
        return out;
    }

    // Both lists are ascending and disjoint, so one pass finds every pair that overlaps, the earliest first.
    std::optional<Instant> within(LocalDay from, LocalDay to) {
        const auto as = openings(a_, from, to);
        const auto bs = openings(b_, from - Days{4}, to + Days{4});
        for (std::size_t i = 0, j = 0; i < as.size() && j < bs.size();) {
            if (as[i].start < bs[j].end && bs[j].start < as[i].end) {
                if (const auto found = together(as[i].day, bs[j].day)) return found;
            }
            if (as[i].end <= bs[j].end) {
                ++i;
            } else {
                ++j;
            }
        }
        return std::nullopt;
    }

    // The first common instant from `from_` on of one opening of each.
    std::optional<Instant> together(LocalDay day_a, LocalDay day_b) {
        const Interval x = a_.on(day_a);
        const Interval y = b_.on(day_b);
        const Instant end = std::min(x.end, y.end);
        if (end <= from_) return std::nullopt;
        seen_on_the_clock_ = true;
        const Instant start = std::max({x.start, y.start, from_});
        if (start >= end || start >= limit_) return std::nullopt;
        return start;
    }

    const Window& a_;
    const Window& b_;
    Instant from_;
    Instant limit_;
    bool same_zone_;
    bool seen_on_the_clock_ = false;
};

constexpr Instant kNoLimit{Days{2932897 + 8}};

std::optional<Instant> earlier_overlap(const Window& a, const Window& b, Instant from, Instant limit) {
    return Search(a, b, from, limit).run();
}

}  // namespace

std::optional<Instant> first_overlap(const Window& a, const Window& b, Instant from) {
    return earlier_overlap(a, b, from, kNoLimit);
}

std::optional<Overlap> first_overlap(std::span<const Window> windows, Instant from) {
    std::optional<Overlap> best;
    for (std::size_t i = 0; i < windows.size(); ++i)
        for (std::size_t j = i + 1; j < windows.size(); ++j)
            if (const auto at = earlier_overlap(windows[i], windows[j], from, best ? best->at : kNoLimit))
                best = {*at, i, j};
    return best;
}

std::optional<Overlap> first_overlap(std::span<const Window> a, std::span<const Window> b, Instant from) {
    std::optional<Overlap> best;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            if (const auto at = earlier_overlap(a[i], b[j], from, best ? best->at : kNoLimit))
                best = {*at, i, j};
    return best;
}

}  // namespace pbs::rrule
