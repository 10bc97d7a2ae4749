#include "rrule/window_set.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

constexpr Instant kBegin{Days{-134774}};  // 1601-01-01
constexpr Instant kEnd{Days{2932897}};    // the end of 9999
constexpr std::int64_t kCycleDays = 146097;

// An opening begins at most this long before or after midnight UTC of its start day (offsets of zones), and
// lasts at most a day of wall clock, which may skip a day (Samoa, 2011).
constexpr Days kReach{4};

LocalDay day_near(Instant t) {
    return LocalDay{std::chrono::floor<Days>(t).time_since_epoch()};
}

}  // namespace

struct WindowSet::Impl {
    std::vector<Window> windows;
    NonWorkDays holidays;

    // What is compiled: membership of every instant in [lo, hi).
    Instant lo{};
    Instant hi{};
    std::vector<Interval> list;   // disjoint, not touching, ascending
    std::vector<Seconds> inside;  // inside[i]: seconds in list[0..i)
    Days step{366};               // how far the next extension goes

    void cover(Instant from, Instant to) {
        from = std::clamp(from, kBegin, kEnd);
        to = std::clamp(to, kBegin, kEnd);
        if (from >= lo && to <= hi && lo < hi) return;
        constexpr Days kFar{366 * 50};
        if (lo == hi || from > hi + kFar || to < lo - kFar) restart(from);
        if (from < lo) extend_back(std::max(kBegin, std::min(from, lo - Days{366})));
        if (to > hi) extend(to);
    }

    void restart(Instant at) {
        list.clear();
        lo = hi = std::max(kBegin, at - Days{32});
        step = Days{366};
    }

    void extend(Instant to) {
        const Instant end = std::min(kEnd, std::max(to, hi + step));
        step = std::min(step * 2, Days{kCycleDays});
        append(compile(hi, end));
        hi = end;
    }

    void append(const std::vector<Interval>& more) {
        std::size_t i = list.size();
        for (const Interval& part : more) {
            if (!list.empty() && list.back().end == part.start) {
                list.back().end = part.end;
            } else {
                list.push_back(part);
            }
        }
        for (inside.resize(list.size(), Seconds{0}); i < list.size(); ++i)
            inside[i] = i == 0 ? Seconds{0} : inside[i - 1] + (list[i - 1].end - list[i - 1].start);
    }

    void extend_back(Instant from) {
        std::vector<Interval> tail = std::move(list);
        list = compile(from, lo);
        inside.assign(list.size(), Seconds{0});
        for (std::size_t i = 1; i < list.size(); ++i)
            inside[i] = inside[i - 1] + (list[i - 1].end - list[i - 1].start);
        append(tail);
        lo = from;
    }

    // The union within [from, to).
    std::vector<Interval> compile(Instant from, Instant to) const {
        std::vector<Interval> all;
        for (const Window& window : windows)
            window.expand(day_near(from) - kReach, day_near(to) + kReach, &holidays, all);
        std::sort(all.begin(), all.end(),
                  [](const Interval& a, const Interval& b) { return a.start < b.start; });
        std::vector<Interval> out;
        for (const Interval& opening : all) {
            const Interval part{std::max(opening.start, from), std::min(opening.end, to)};
            if (part.start >= part.end) continue;
            if (!out.empty() && part.start <= out.back().end) {
                out.back().end = std::max(out.back().end, part.end);
            } else {
                out.push_back(part);
            }
        }
        return out;
    }

    // The index of the first interval that ends after t, within what is compiled.
    std::size_t index(Instant t) const {
        return static_cast<std::size_t>(
            std::upper_bound(list.begin(), list.end(), t,
                             [](Instant x, const Interval& i) { return x < i.end; }) -
            list.begin());
    }

    // Seconds inside from the start of what is compiled to t.
    Seconds measure(Instant t) const {
        const std::size_t i = index(t);
        if (i == list.size())
            return list.empty() ? Seconds{0} : inside.back() + (list.back().end - list.back().start);
        return inside[i] + std::max(Seconds{0}, t - list[i].start);
    }

    // If nothing changes from `t` to this, nothing ever will: a common period of all rules, after the last of
    // their single dates; two years at least, as an opening may fall into a skipped hour.
    Instant quiet_until(Instant t) const {
        constexpr std::int64_t kCalendarDays = 2932897;
        std::int64_t period = 1;
        LocalDay from = day_near(t);
        for (const Window& w : windows) {
            const Recurrence& rule = w.recurrence();
            // Holidays may leave nothing for any number of years, then end.
            if (!w.applies_on_holidays() && !holidays.empty()) return kEnd;
            const bool other_zone = !(rule.zone() == windows.front().recurrence().zone());
            const std::int64_t own = std::lcm(rule.period_days(), other_zone ? kCycleDays : 1);
            period = std::min(std::lcm(period, own), kCalendarDays);
            from = std::max({from, rule.periodic_from(), rule.last_day().value_or(from)});
        }
        const auto end = from.time_since_epoch().count() + std::max<std::int64_t>(period, 800) + 8;
        return Instant{Days{std::min(end, kCalendarDays)}};
    }

    // The interval's end, once it is known that it isn't only where compilation stopped.
    void settle_end(std::size_t i, Instant t) {
        if (list[i].end < hi || hi == kEnd) return;
        const Instant quiet = quiet_until(t);
        while (i < list.size() && list[i].end == hi && hi < kEnd) {
            if (hi >= quiet) {
                list[i].end = hi = kEnd;
            } else {
                extend(hi);
            }
        }
    }

    // The index of the first interval that ends after t, extending what is compiled until there is one;
    // list.size() if none.
    std::size_t settle_index(Instant t) {
        cover(t, t + Seconds{1});
        std::size_t i = index(t);
        if (i < list.size() || hi == kEnd) return i;
        const Instant quiet = quiet_until(t);
        while ((i = index(t)) == list.size() && hi < kEnd) {
            if (hi >= quiet) {
                hi = kEnd;
            } else {
                extend(hi);
            }
        }
        return i;
    }
};

WindowSet::WindowSet() : impl_(std::make_shared<Impl>()) {}

WindowSet::WindowSet(std::vector<Window> windows, NonWorkDays holidays) : impl_(std::make_shared<Impl>()) {
    impl_->windows = std::move(windows);
    impl_->holidays = std::move(holidays);
}

bool WindowSet::empty() const {
    return impl_->windows.empty();
}
const std::vector<Window>& WindowSet::windows() const {
    return impl_->windows;
}

bool WindowSet::contains(Instant t) const {
    if (empty() || t < kBegin || t >= kEnd) return false;
    impl_->cover(t, t + Seconds{1});
    const std::size_t i = impl_->index(t);
    return i < impl_->list.size() && impl_->list[i].start <= t;
}

std::optional<Instant> WindowSet::next_change(Instant t) const {
    if (empty() || t >= kEnd) return std::nullopt;
    t = std::max(t, kBegin - Seconds{1});
    const std::size_t i = impl_->settle_index(std::max(t, kBegin));
    if (i == impl_->list.size()) return std::nullopt;
    if (impl_->list[i].start > t) return impl_->list[i].start;
    impl_->settle_end(i, t);
    if (impl_->list[i].end >= kEnd) return std::nullopt;
    return impl_->list[i].end;
}

std::optional<Interval> WindowSet::at_or_after(Instant t) const {
    if (empty() || t >= kEnd) return std::nullopt;
    t = std::max(t, kBegin);
    std::size_t i = impl_->settle_index(t);
    if (i == impl_->list.size()) return std::nullopt;
    while (impl_->list[i].start == impl_->lo && impl_->lo > kBegin) {
        impl_->extend_back(std::max(kBegin, impl_->lo - impl_->step));
        i = impl_->index(t);
    }
    impl_->settle_end(i, t);
    return impl_->list[i];
}

std::vector<Interval> WindowSet::intervals(Instant a, Instant b) const {
    a = std::max(a, kBegin);
    b = std::min(b, kEnd);
    std::vector<Interval> out;
    if (empty() || b <= a) return out;
    impl_->cover(a, b);
    for (std::size_t i = impl_->index(a); i < impl_->list.size() && impl_->list[i].start < b; ++i)
        out.push_back({std::max(impl_->list[i].start, a), std::min(impl_->list[i].end, b)});
    return out;
}

Seconds WindowSet::seconds_inside(Instant a, Instant b) const {
    a = std::max(a, kBegin);
    b = std::min(b, kEnd);
    if (empty() || b <= a) return Seconds{0};
    impl_->cover(a, b);
    return impl_->measure(b) - impl_->measure(a);
}

}  // namespace pbs::rrule
