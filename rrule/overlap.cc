#include "rrule/overlap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rrule/complement.h"
#include "rrule/pattern.h"
#include "rrule/window_set.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// What is compared: a union of windows, or where it isn't open.
struct Side {
    std::span<const Window> windows;
    const NonWorkDays* holidays;
    bool outside = false;
};

class Search {
  public:
    Search(const Side& a, const Side& b, Instant from, Instant limit)
        : a_(a),
          b_(b),
          pattern_a_(a.windows, a.holidays),
          pattern_b_(b.windows, b.holidays),
          from_(std::max(from, kBegin)),
          limit_(std::min(limit, kEnd)) {
        if (a.windows.empty() || b.windows.empty()) return;
        const Zone& zone = a.windows.front().recurrence().zone();
        if (pattern_a_.one_zone() && pattern_b_.one_zone() && zone == b.windows.front().recurrence().zone())
            zone_ = &zone;
    }

    std::optional<Instant> run() {
        if (from_ >= limit_) return std::nullopt;
        const LocalDay begin = day_near(from_) - kReach;
        const LocalDay last = std::min(kLastDay, day_near(limit_) + kReach);
        const LocalDay regular = std::max({begin, pattern_a_.regular_from(), pattern_b_.regular_from()});
        const std::int64_t period = common_period(pattern_a_.period(), pattern_b_.period());
        // On one clock, what is disjoint there is disjoint in time: a period of the wall clock is enough
        // unless a common hour was hidden by a change of the clock.
        const LocalDay on_the_clock =
            plus(regular, zone_ != nullptr ? period : common_period(period, kCycleDays));
        const LocalDay in_time = plus(std::max(regular, kRegularZones), common_period(period, kCycleDays));
        LocalDay from = begin;
        for (Days step{64}; from <= last && from <= (hidden_ || zone_ == nullptr ? in_time : on_the_clock);
             from += step, step = std::min(step * 4, Days{5844})) {
            const LocalDay to = std::min(from + step, last + Days{1});
            if (const auto found = zone_ != nullptr ? on_one_clock(from, to) : in_zones(from, to))
                return found;
        }
        return std::nullopt;
    }

  private:
    static LocalDay plus(LocalDay day, std::int64_t days) { return std::min(kLastDay, day + Days{days + 8}); }

    static std::vector<ClockInterval> clock(const Side& side, const Pattern& pattern, LocalDay from,
                                            LocalDay to) {
        const auto parts = pattern.on_the_clock(from, to);
        return side.outside ? complement_of(parts, Local{from}, Local{to}) : parts;
    }
    static std::vector<Interval> time(const Side& side, const Pattern& pattern, Instant from, Instant to) {
        const auto parts = pattern.in_time(from, to);
        return side.outside ? complement_of(parts, from, to) : parts;
    }

    // Calls check(start, end) for each common part of two ascending, disjoint lists until it answers.
    template <class Part, class Check>
    static std::optional<Instant> common(const std::vector<Part>& as, const std::vector<Part>& bs,
                                         const Check& check) {
        for (std::size_t i = 0, j = 0; i < as.size() && j < bs.size();) {
            const auto start = std::max(as[i].start, bs[j].start);
            const auto end = std::min(as[i].end, bs[j].end);
            if (start < end)
                if (const std::optional<Instant> found = check(start, end)) return found;
            if (as[i].end <= bs[j].end) {
                ++i;
            } else {
                ++j;
            }
        }
        return std::nullopt;
    }

    std::optional<Instant> on_one_clock(LocalDay from, LocalDay to) {
        return common(clock(a_, pattern_a_, from, to), clock(b_, pattern_b_, from, to),
                      [&](Local start, Local end) -> std::optional<Instant> {
                          if (const auto found = within({zone_->instant(start), zone_->instant(end)}))
                              return found;
                          hidden_ = hidden_ || !zone_->exists(start);
                          return std::nullopt;
                      });
    }

    std::optional<Instant> in_zones(LocalDay from, LocalDay to) {
        const Instant after{from.time_since_epoch()};
        const Instant before{to.time_since_epoch()};
        return common(time(a_, pattern_a_, after, before), time(b_, pattern_b_, after, before),
                      [&](Instant start, Instant end) {
                          return within({start, end});
                      });
    }

    // The first instant that was asked for in a part that is common.
    std::optional<Instant> within(const Interval& part) const {
        const Instant start = std::max(part.start, from_);
        if (start >= part.end || start >= limit_) return std::nullopt;
        return start;
    }

    const Side& a_;
    const Side& b_;
    Pattern pattern_a_;
    Pattern pattern_b_;
    Instant from_;
    Instant limit_;
    const Zone* zone_ = nullptr;  // of all windows, if it is one
    bool hidden_ = false;         // an hour common to both was skipped by a change of the clock
};

std::optional<Instant> earlier_overlap(const Window& a, const Window& b, Instant from, Instant limit) {
    const Side side_a{{&a, 1}, nullptr};
    const Side side_b{{&b, 1}, nullptr};
    return Search(side_a, side_b, from, limit).run();
}

}  // namespace

std::optional<Instant> first_overlap(const Window& a, const Window& b, Instant from) {
    return earlier_overlap(a, b, from, kEnd);
}

std::optional<Instant> first_overlap(const WindowSet& a, const WindowSet& b, Instant from) {
    const Side side_a{a.windows(), &a.holidays(), a.is_complement()};
    const Side side_b{b.windows(), &b.holidays(), b.is_complement()};
    return Search(side_a, side_b, from, kEnd).run();
}

std::optional<Overlap> first_overlap(std::span<const Window> windows, Instant from) {
    std::optional<Overlap> best;
    for (std::size_t i = 0; i < windows.size(); ++i)
        for (std::size_t j = i + 1; j < windows.size(); ++j)
            if (const auto at = earlier_overlap(windows[i], windows[j], from, best ? best->at : kEnd))
                best = {*at, i, j};
    return best;
}

std::optional<Overlap> first_overlap(std::span<const Window> a, std::span<const Window> b, Instant from) {
    std::optional<Overlap> best;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            if (const auto at = earlier_overlap(a[i], b[j], from, best ? best->at : kEnd)) best = {*at, i, j};
    return best;
}

}  // namespace pbs::rrule
