#include "server_plugin/scheduler/future/timeline.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {
namespace {

bool add_to(std::int64_t& sum, std::int64_t amount) {
    return !__builtin_add_overflow(sum, amount, &sum);
}

// Returns the most that may be in use if `amount` is to be free.
std::int64_t most_in_use(std::int64_t amount, std::int64_t capacity) {
    if (capacity == Timeline::kUnlimited) return capacity;
    std::int64_t rest = 0;
    if (!__builtin_sub_overflow(capacity, amount, &rest)) return rest;
    return amount < 0 ? Timeline::kUnlimited : std::numeric_limits<std::int64_t>::min();
}

// Returns whether b is at least `duration` later than a. Works for any two instants, however far apart.
bool lasts(Instant a, Instant b, Seconds duration) {
    if (b == Instant::max() || duration <= Seconds(0)) return true;
    const auto since = [](Instant t) { return static_cast<std::uint64_t>(t.time_since_epoch().count()); };
    return since(b) - since(a) >= static_cast<std::uint64_t>(duration.count());
}

Instant later(Instant t, Seconds duration) {
    return lasts(t, Instant::max() - Seconds(1), duration) ? t + std::max(duration, Seconds(0))
                                                           : Instant::max();
}

}  // namespace

std::size_t Timeline::after(Instant t) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(times_, t) - times_.begin());
}

// Makes t the start of a step, and returns the step's number. For the end of time, returns the number after
// the last step.
std::size_t Timeline::cut(Instant t) {
    if (t == Instant::max()) return times_.size();
    const std::size_t next = after(t);
    if (next > 0 && times_[next - 1] == t) return next - 1;
    const auto place = static_cast<std::ptrdiff_t>(next);
    const std::int64_t value = value_before(next);
    times_.insert(times_.begin() + place, t);
    amounts_.insert(amounts_.begin() + place, value);
    return next;
}

// Removes a step that changes nothing.
void Timeline::merge(std::size_t step) {
    if (step >= times_.size() || amounts_[step] != value_before(step)) return;
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(step));
    amounts_.erase(amounts_.begin() + static_cast<std::ptrdiff_t>(step));
}

bool Timeline::add(const rrule::Interval& when, std::int64_t amount) {
    if (when.start >= when.end || amount == 0) return true;
    const std::size_t first = cut(when.start);
    const std::size_t last = cut(when.end);
    const auto from = amounts_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = amounts_.begin() + static_cast<std::ptrdiff_t>(last);
    // If the most extreme sum doesn't overflow, none does.
    std::int64_t furthest = amount > 0 ? *std::max_element(from, to) : *std::min_element(from, to);
    const bool fits = add_to(furthest, amount);
    if (fits) std::for_each(from, to, [&](std::int64_t& value) { value += amount; });
    merge(last);
    merge(first);
    return fits;
}

bool Timeline::debit(const rrule::Interval& when, std::int64_t amount) {
    return add(when, amount);
}

bool Timeline::credit(const rrule::Interval& when, std::int64_t amount) {
    if (amount == std::numeric_limits<std::int64_t>::min()) return when.start >= when.end;
    return add(when, -amount);
}

// Merges the steps of the profile with those of the uses, as changes of the amount in use. Returns false if a
// sum overflows.
bool Timeline::add_all(std::span<const Use> uses) {
    std::vector<std::pair<Instant, std::int64_t>> changes;
    changes.reserve(2 * uses.size());
    for (const Use& use : uses) {
        if (use.when.start >= use.when.end || use.amount == 0) continue;
        if (use.amount == std::numeric_limits<std::int64_t>::min()) return false;
        changes.emplace_back(use.when.start, use.amount);
        if (use.when.end != Instant::max()) changes.emplace_back(use.when.end, -use.amount);
    }
    std::ranges::sort(changes, {}, &std::pair<Instant, std::int64_t>::first);
    std::vector<Instant> times;
    std::vector<std::int64_t> amounts;
    times.reserve(times_.size() + changes.size());
    amounts.reserve(times_.size() + changes.size());
    std::int64_t added = 0;
    std::size_t old = 0;
    for (std::size_t i = 0; i < changes.size() || old < times_.size();) {
        const Instant t = std::min(end_before(old), i < changes.size() ? changes[i].first : Instant::max());
        for (; i < changes.size() && changes[i].first == t; ++i)
            if (!add_to(added, changes[i].second)) return false;
        if (old < times_.size() && times_[old] == t) ++old;
        std::int64_t value = value_before(old);
        if (!add_to(value, added)) return false;
        if (value == (amounts.empty() ? 0 : amounts.back())) continue;
        times.push_back(t);
        amounts.push_back(value);
    }
    times_ = std::move(times);
    amounts_ = std::move(amounts);
    return true;
}

bool Timeline::debit(std::span<const Use> uses) {
    constexpr std::size_t kFew = 2;  // up to so many are added faster one by one
    if (uses.size() > kFew && add_all(uses)) return true;
    bool all = true;
    for (const Use& use : uses) all = debit(use.when, use.amount) && all;
    return all;
}

std::int64_t Timeline::at(Instant t) const {
    return value_before(after(t));
}

std::int64_t Timeline::max_in(const rrule::Interval& when) const {
    if (when.start >= when.end) return 0;
    std::size_t step = after(when.start);
    std::int64_t most = value_before(step);
    for (; step < times_.size() && times_[step] < when.end; ++step) most = std::max(most, amounts_[step]);
    return most;
}

std::optional<Instant> Timeline::earliest(Instant from, Seconds duration, std::int64_t amount,
                                          std::int64_t capacity) const {
    const std::int64_t most = most_in_use(amount, capacity);
    std::optional<Instant> start;
    for (std::size_t next = after(from);; ++next) {  // each round looks at the step before `next`
        if (value_before(next) > most) {
            start.reset();
        } else {
            if (!start) start = next == 0 ? from : std::max(from, times_[next - 1]);
            if (lasts(*start, end_before(next), duration)) return start;
        }
        if (next == times_.size()) return std::nullopt;
    }
}

Instant Timeline::free_until(Instant from, std::int64_t amount, std::int64_t capacity) const {
    const std::int64_t most = most_in_use(amount, capacity);
    std::size_t step = after(from);
    if (value_before(step) > most) return from;
    while (step < times_.size() && amounts_[step] <= most) ++step;
    return end_before(step);
}

std::optional<Instant> earliest_of_all(std::span<Demand> demands, Instant from, Seconds duration) {
    std::size_t agreed = 0;  // the number of demands in a row with enough from `from` on
    for (std::size_t i = 0; agreed < demands.size(); i = (i + 1) % demands.size()) {
        Demand& d = demands[i];
        ++agreed;
        if (from < d.free.start || from >= d.free.end)
            d.free = {from, d.used->free_until(from, d.amount, d.capacity)};
        const Instant until = std::max(from, d.free.end);
        if (until > from && until >= later(from, duration)) continue;
        const auto next = d.used->earliest(until, duration, d.amount, d.capacity);
        if (!next) return std::nullopt;
        from = *next;
        agreed = 1;
    }
    return from;
}

}  // namespace pbs::sched
