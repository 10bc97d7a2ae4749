#include "rrule/window_set.h"

#include <algorithm>

#include "rrule/interval_list.h"
#include "rrule/opening_days.h"
#include "rrule/pattern.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// A question about a longer span of time is computed for itself, and not kept in the list. For a time further
// than this from the list, the list begins anew.
constexpr Days kFar{366 * 50};

// The compiled list begins this long before the time in question.
constexpr Days kBeforeNow{10};

// `days` moves to another time after this many questions about times outside it: after kImpatient at first,
// and after twice as many with each move, up to kPatient.
constexpr int kImpatient = 64;
constexpr int kPatient = 4096;

}  // namespace

// The compiled data of a union of windows. A question about any of thousands of unions waits for memory. So a
// single window answers from the first cache line of this object, and a union from the second one and one
// line of its list.
struct alignas(64) WindowSet::Impl {
    OpeningDays days;

    // The list is compiled for every instant in [lo, hi).
    Instant hi{};

    // The stretch of the last answer: nothing changes in [from, to). `settled`: something changes at `to`,
    // or, if that is kEnd, never again.
    struct Constant {
        Instant from{};
        Instant to{};
        bool inside = false;
        bool settled = false;
        bool holds(Instant t) const { return from <= t && t < to; }
    };
    Constant last;

    IntervalList list;
    Instant lo{};
    Days step{366};             // length of the next extension
    int outside_days = 0;       // questions about times that `days` doesn't cover
    int patience = kImpatient;  // `days` is made anew after so many of these questions

    std::vector<Window> windows;
    NonWorkDays holidays;

    Pattern pattern() const { return {windows, holidays}; }

    // If `days`, the table of a single window, doesn't cover t, makes it anew around t: at the first such
    // question, and again after `patience` such questions. False: `days` stays as it is.
    bool follow(Instant t) {
        if (windows.size() != 1 || days.covers(t) || outside_days++ % patience != 0) return false;
        days = OpeningDays(windows.front(), holidays, t);
        patience = std::min(patience * 2, kPatient);
        outside_days = 1;
        return true;
    }

    // The answer of `days` about t; nullopt if it has none.
    template <class Ask>
    auto from_days(Instant t, const Ask& ask) {
        auto answer = ask(days);
        if (!answer && follow(t)) answer = ask(days);
        return answer;
    }

    void cover(Instant from, Instant to) {
        if (from >= list.begin() && to <= hi) return;
        from = std::clamp(from, kBegin, kEnd);
        to = std::clamp(to, kBegin, kEnd);
        if (from >= lo && to <= hi && lo < hi) return;
        if (lo == hi || from > hi + kFar || to < lo - kFar) restart(from);
        if (from < lo) extend_back(std::max(kBegin, std::min(from, lo - Days{366})));
        if (to > hi) extend(to);
    }

    void restart(Instant at) {
        list.clear();
        last = {};
        // The first extension then needs only days that `days` already has (opening_days.h).
        lo = hi = std::max(kBegin, at - kBeforeNow);
        step = Days{366};
    }

    void extend(Instant to) {
        const Instant end = std::min(kEnd, std::max(to, hi + step));
        step = std::min(step * 2, Days{kCycleDays});
        list.append(pattern().in_time(hi, end, &days));
        hi = end;
    }

    void extend_back(Instant from) {
        list.prepend(pattern().in_time(from, lo, &days));
        lo = from;
    }

    bool ends_open(std::size_t i) const { return i + 1 == list.size() && list[i].end == hi && hi < kEnd; }

    // Extends the list until the interval's end is a real end, not only the place where compilation stopped.
    void settle_end(std::size_t i, Instant t) {
        if (!ends_open(i)) return;
        const std::optional<Instant> always = pattern().always_open_from();
        Quiet quiet;
        while (ends_open(i)) {
            if ((always && hi >= *always) || quiet_at_end(t, quiet)) {
                hi = kEnd;
                list.end_at(kEnd);
            } else {
                extend(hi);
            }
        }
    }

    // The instant from which on nothing changes any more; nullopt: it isn't computed yet.
    using Quiet = std::optional<Instant>;
    // Returns whether it is known that nothing changes after hi. Requires that nothing changes in the list
    // from t on. This is seldom true, so it is checked only if the list reaches several years beyond t.
    bool quiet_at_end(Instant t, Quiet& quiet) const {
        constexpr Days kSeldom{366 * 6};
        if (!quiet && hi > t + kSeldom) quiet = pattern().quiet_until(t);
        return quiet && hi >= *quiet;
    }

    // Extends the list backwards until the start of interval i is a real start, not only the place where
    // compilation began. Returns the interval's new index.
    std::size_t settle_start(std::size_t i, Instant t) {
        while (list[i].start == lo && lo > kBegin) {
            extend_back(std::max(kBegin, lo - step));
            step = std::min(step * 2, Days{kCycleDays});
            i = list.index(t);
        }
        return i;
    }

    // The index of the first interval that ends after t, extending the list until there is one; list.size()
    // if there is none.
    std::size_t settle_index(Instant t) {
        cover(t, t + Seconds{1});
        std::size_t i = list.index(t);
        if (i < list.size() || hi == kEnd) return i;
        Quiet quiet;
        while ((i = list.index(t)) == list.size() && hi < kEnd) {
            if (quiet_at_end(t, quiet)) {
                hi = kEnd;
            } else {
                extend(hi);
            }
        }
        return i;
    }

    // Returns whether t, in [kBegin, kEnd), is inside.
    bool inside(Instant t) {
        const auto known = from_days(t, [t](const OpeningDays& in) { return in.contains(t); });
        return known ? *known : inside_by_list(t);
    }

    // The first change after t in [kBegin, kEnd); kEnd when there is none.
    Instant change(Instant t) {
        const auto known = from_days(t, [t](const OpeningDays& in) { return in.next_change(t); });
        return known ? *known : change_by_list(t);
    }

    bool inside_by_list(Instant t) {
        if (last.holds(t)) return last.inside;
        cover(t, t + Seconds{1});
        if (t < list.begin()) {
            const bool next = !list.empty();
            last = {lo, next ? list.begin() : hi, false, next || hi == kEnd};
            return false;
        }
        const IntervalList::Place place = list.around(t);
        // an interval that reaches hi may go on after it
        last = {place.from, std::min(place.to, hi), place.inside, place.to < hi || hi == kEnd};
        return place.inside;
    }

    Instant change_by_list(Instant t) {
        inside_by_list(t);
        if (last.settled) return last.to;
        const std::size_t i = settle_index(t);
        if (i < list.size() && list[i].start <= t) settle_end(i, t);
        last = {};
        inside_by_list(t);
        return last.to;
    }

    // The interval around t, or the first after it; nullopt: there is none.
    std::optional<Interval> interval(Instant t) {
        std::size_t i = settle_index(t);
        if (i == list.size()) return std::nullopt;
        i = settle_start(i, t);
        settle_end(i, t);
        return Interval{list[i].start, list[i].end};
    }

    // The intervals within [a, b).
    std::vector<Interval> intervals(Instant a, Instant b) {
        if (b - a > kFar) return pattern().in_time(a, b);
        cover(a, b);
        std::vector<Interval> out;
        for (std::size_t i = list.index(a); i < list.size() && list[i].start < b; ++i)
            out.push_back({std::max(list[i].start, a), std::min(list[i].end, b)});
        return out;
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
const NonWorkDays& WindowSet::holidays() const {
    return impl_->holidays;
}

bool WindowSet::contains(Instant t) const {
    if (t < kBegin || t >= kEnd) return false;
    return impl_->inside(t);
}

std::optional<Instant> WindowSet::next_change(Instant t) const {
    if (t >= kEnd) return std::nullopt;
    if (t < kBegin) {
        if (contains(kBegin)) return kBegin;
        t = kBegin;
    }
    const Instant change = impl_->change(t);
    if (change >= kEnd) return std::nullopt;
    return change;
}

std::optional<Interval> WindowSet::at_or_after(Instant t) const {
    if (t >= kEnd) return std::nullopt;
    return impl_->interval(std::max(t, kBegin));
}

std::vector<Interval> WindowSet::intervals(Instant a, Instant b) const {
    a = std::max(a, kBegin);
    b = std::min(b, kEnd);
    if (b <= a) return {};
    return impl_->intervals(a, b);
}

std::size_t WindowSet::memory() const {
    return sizeof(Impl) + impl_->list.memory();
}

}  // namespace pbs::rrule
