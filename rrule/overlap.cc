#include "rrule/overlap.h"

#include <algorithm>
#include <array>
#include <vector>

#include "rrule/day_cycle.h"
#include "rrule/pattern.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// Openings of two windows can only meet if they start at most this many days apart: each lasts at most a day,
// and zones are at most 26 hours apart.
constexpr int kApart = 3;
constexpr std::size_t kShifts = 2 * kApart + 1;

int shift_at(std::size_t i) {
    return static_cast<int>(i) - kApart;
}

}  // namespace

class OverlapSearch::Pair {
  public:
    Pair(OverlapSearch& search, const Window& a, const Window& b, Instant limit)
        : search_(search),
          a_(a),
          b_(b),
          from_(std::max(search.from_, kBegin)),
          limit_(std::min(limit, kEnd)),
          one_zone_(a.recurrence().zone() == b.recurrence().zone()) {}

    std::optional<Instant> run() {
        ++search_.pairs_;
        if (from_ >= limit_) return std::nullopt;
        find_shifts();
        if (std::none_of(shifts_.begin(), shifts_.end(), [](bool is) { return is; })) return std::nullopt;
        const std::int64_t begin = day_number(day_near(from_) - kReach);
        const std::int64_t last = last_day();
        for (int y = Year::of(begin); !search_.gave_up(); ++y) {
            const Year year(y);
            if (year.first > last || (found_ && year.first > found_day_ + kSettled)) break;
            ++search_.work_;
            const YearDays a = a_.year(year, search_.holidays_);
            if (a.any()) look_at(year, a, b_.year(year, search_.holidays_), begin);
        }
        return found_;
    }

  private:
    // The number of days for which the search goes on after the day of the first overlap found: an opening of
    // window a on one of these days may have an earlier overlap. Later openings can't.
    static constexpr std::int64_t kSettled = 8;

    // Finds the shifts to compare. Shift n means that window b opens n days after a day of window a (before
    // it, if n is negative). Only shifts with which the two openings can share an instant are compared.
    void find_shifts() {
        // the clocks of two zones differ by at most this much
        const Seconds apart = one_zone_ ? Seconds{0} : Seconds{26 * 3600};
        for (std::size_t i = 0; i < kShifts; ++i) {
            const int shift = shift_at(i);
            const Seconds day{std::int64_t{shift} * 86400};
            const bool in_time = a_.start_time() - apart < b_.end_time() + day &&
                                 b_.start_time() + day < a_.end_time() + apart;
            // on the same day, a window that opens only on holidays never meets one that doesn't open on
            // holidays
            const bool apart_by_holidays =
                shift == 0 && ((a_.only_on_holidays() && !b_.applies_on_holidays()) ||
                               (b_.only_on_holidays() && !a_.applies_on_holidays()));
            shifts_[i] = in_time && !apart_by_holidays && days_meet(shift);
        }
    }
    // Returns whether some days of window a and of window b can be `shift` days apart. The cheapest checks
    // come first: most pairs share no day of any year.
    bool days_meet(int shift) const {
        const Recurrence::Ever& a = a_.recurrence().ever();
        const Recurrence::Ever& b = b_.recurrence().ever();
        const bool turn = meet_at_turn(a.all, b.all, shift);
        if (!turn && !meet(a.all, b.all, shift)) return false;
        const std::bitset<7> weekdays_a = a_.recurrence().weekdays();
        const std::bitset<7> weekdays_b = b_.recurrence().weekdays();
        bool weekdays = false;
        for (std::size_t of_a = 0; of_a < 7; ++of_a)
            weekdays = weekdays || (weekdays_a.test(of_a) &&
                                    weekdays_b.test((of_a + static_cast<std::size_t>(shift + 7)) % 7));
        if (!weekdays) return false;
        const DayCycle* cycle_a = a_.recurrence().cycle();
        const DayCycle* cycle_b = b_.recurrence().cycle();
        if (cycle_a != nullptr && cycle_b != nullptr && !cycle_a->meets(*cycle_b, shift)) return false;
        if (turn) return true;
        for (std::size_t kind = 0; kind < Year::kKinds; ++kind)
            if (meet(a.kinds[kind], b.kinds[kind], shift)) return true;
        return false;
    }
    static bool meet(const YearDays& a, const YearDays& b, int shift) {
        return ((shift == 0 ? a : a.shifted(shift)) & b).any();
    }
    static bool meet_at_turn(const YearDays& a, const YearDays& b, int shift) {
        const YearDays first = YearDays::range(0, kApart);
        const YearDays last = YearDays::range(365 - kApart, 366);
        return shift > 0 ? (a & last).any() && (b & first).any()
                         : shift < 0 && (a & first).any() && (b & last).any();
    }

    // Returns the last day to look at. All days after it repeat days that were looked at.
    std::int64_t last_day() const {
        const Window both[] = {a_, b_};
        const Pattern pattern(both, search_.holidays_);
        const LocalDay end = day_near(limit_) + kReach;
        const LocalDay regular = std::max({pattern.regular_from(), kRegularZones, day_near(from_)});
        const std::int64_t period = common_period(pattern.period(), kCycleDays);
        return day_number(std::min({end, kLastDay, regular + Days{period + 366}}));
    }

    void look_at(const Year& year, const YearDays& a, const YearDays& b, std::int64_t begin) {
        const auto& known = never_[static_cast<std::size_t>(year.kind)];
        std::array<YearDays, kShifts> common;
        YearDays all;
        for (std::size_t i = 0; i < kShifts; ++i) {
            if (!shifts_[i]) continue;
            const int shift = shift_at(i);
            common[i] = a & b.shifted(-shift);
            // at the ends of the year, the opening of window b may be in the year before or after
            const auto beside = [&](int from, int to) {
                for (int day = a.next(from); day < to; day = a.next(day + 1))
                    if (b_.opens_on(day_at(year.first + day + shift), search_.holidays_)) common[i].set(day);
            };
            if (shift < 0) beside(0, -shift);
            if (shift > 0) beside(year.length - shift, year.length);
            if (is_regular(year)) common[i] &= ~known[i];
            all |= common[i];
        }
        const auto first = static_cast<int>(std::max<std::int64_t>(0, begin - year.first));
        for (int day = all.next(first); day < year.length && !search_.gave_up(); day = all.next(day + 1)) {
            if (found_ && year.first + day > found_day_ + kSettled) return;
            for (std::size_t i = 0; i < kShifts; ++i)
                if (common[i].test(day)) try_day(year, day, i, common[i]);
        }
    }

    // Returns whether the clocks change in and around this year by rules that stay the same (kRegularZones).
    static bool is_regular(const Year& year) { return year.first > day_number(kRegularZones); }

    // Compares window a's opening on this day with window b's opening in time, by the clocks of their zones.
    void try_day(const Year& year, int day, std::size_t i, YearDays& common) {
        ++search_.work_;
        const LocalDay of_a = day_at(year.first + day);
        const LocalDay of_b = of_a + Days{shift_at(i)};
        const Interval opening_a = a_.on(of_a);
        const Interval opening_b = b_.on(of_b);
        const Instant start = std::max(opening_a.start, opening_b.start);
        const Instant end = std::min(opening_a.end, opening_b.end);
        if (start < end) {
            const Instant at = std::max(start, from_);
            if (at >= end || at >= limit_ || (found_ && *found_ <= at)) return;
            if (!found_) found_day_ = year.first + day;
            found_ = at;
            return;
        }
        // The openings of this day don't meet, and neither do the openings of the days up to the next change
        // of a clock.
        const std::int64_t until =
            std::min(unchanged_until(a_, of_a), unchanged_until(b_, of_b) - shift_at(i));
        const YearDays same = YearDays::range(
            day, static_cast<int>(std::clamp<std::int64_t>(until - year.first, day + 1, year.length)));
        common &= ~same;
        if (is_regular(year)) never_[static_cast<std::size_t>(year.kind)][i] |= same;
    }

    // Returns the first day after `day` on which the window's clock may have another offset from UTC than at
    // the opening on `day`.
    static std::int64_t unchanged_until(const Window& window, LocalDay day) {
        const Zone& zone = window.recurrence().zone();
        const Zone::Stretch stretch = zone.stretch(zone.instant(Local{day} + window.start_time()));
        if (Local{day} + window.start_time() < stretch.from || Local{day} + window.end_time() >= stretch.to)
            return day_number(day) + 1;
        return day_number(std::chrono::floor<Days>(stretch.to - window.end_time()));
    }

    OverlapSearch& search_;
    const Window& a_;
    const Window& b_;
    Instant from_;
    Instant limit_;
    bool one_zone_;
    std::array<bool, kShifts> shifts_{};
    // Days on which window a's opening is known not to meet window b's, by kind of year and shift. They hold
    // for years in which clocks change by rules that stay the same (is_regular()).
    std::array<std::array<YearDays, kShifts>, Year::kKinds> never_{};
    std::optional<Instant> found_;
    std::int64_t found_day_ = 0;
};

std::optional<Instant> OverlapSearch::of(const Window& a, const Window& b, Instant limit) {
    return Pair(*this, a, b, limit).run();
}

std::optional<Overlap> OverlapSearch::of(std::span<const Window> windows,
                                         std::span<const std::size_t> changed) {
    std::vector<bool> is_changed(windows.size());
    for (const std::size_t i : changed) is_changed[i] = true;
    std::optional<Overlap> best;
    for (const std::size_t i : changed) {
        for (std::size_t j = 0; j < windows.size() && !gave_up(); ++j) {
            if (j == i || (is_changed[j] && j < i)) continue;  // compare each pair once
            const auto at = of(windows[i], windows[j], best ? best->at : Instant::max());
            if (at) best = {*at, std::min(i, j), std::max(i, j)};
        }
    }
    return best;
}

}  // namespace pbs::rrule
