#include "rrule/interval_list.h"

#include <algorithm>
#include <bit>

namespace pbs::rrule {

void IntervalList::clear() {
    entries_.clear();
    table_.clear();
}

void IntervalList::add(const Interval& part) {
    if (!entries_.empty() && entries_.back().end == part.start) {
        entries_.back().end = part.end;
        return;
    }
    const Seconds before = entries_.empty()
                               ? Seconds{0}
                               : entries_.back().before + (entries_.back().end - entries_.back().start);
    entries_.push_back({part.start, part.end, before});
}

void IntervalList::append(const std::vector<Interval>& more) {
    for (const Interval& part : more) add(part);
    make_table();
}

void IntervalList::prepend(std::vector<Interval> earlier) {
    const std::vector<Entry> later = std::move(entries_);
    entries_.clear();
    entries_.reserve(earlier.size() + later.size());
    for (const Interval& part : earlier) add(part);
    for (const Entry& entry : later) add({entry.start, entry.end});
    make_table();
}

void IntervalList::make_table() {
    table_.clear();
    if (entries_.empty()) return;
    begin_ = entries_.front().start.time_since_epoch().count();
    const auto span = static_cast<std::uint64_t>(entries_.back().end.time_since_epoch().count() - begin_);
    // As many stretches as intervals, up to twice as many.
    shift_ = std::bit_width(span / entries_.size());
    if (shift_ > 0) --shift_;
    const std::size_t count = static_cast<std::size_t>(span >> shift_) + 2;
    table_.resize(count);
    std::size_t i = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const Instant at{Seconds{begin_ + static_cast<std::int64_t>(k << shift_)}};
        while (i < entries_.size() && entries_[i].end <= at) ++i;
        table_[k] = static_cast<std::uint32_t>(i);
    }
}

std::size_t IntervalList::index(Instant t) const {
    if (entries_.empty() || t < entries_.front().end) return 0;
    if (t >= entries_.back().end) return entries_.size();
    // The last end may have been moved beyond the table.
    const auto k = std::min(static_cast<std::size_t>((t.time_since_epoch().count() - begin_) >> shift_),
                            table_.size() - 2);
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(table_[k]);
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(table_[k + 1]);
    const auto found =
        std::upper_bound(first, last, t, [](Instant x, const Entry& entry) { return x < entry.end; });
    return static_cast<std::size_t>(found - entries_.begin());
}

Seconds IntervalList::measure(Instant t) const {
    const std::size_t i = index(t);
    if (i < entries_.size()) return entries_[i].before + std::max(Seconds{0}, t - entries_[i].start);
    if (entries_.empty()) return Seconds{0};
    return entries_.back().before + (entries_.back().end - entries_.back().start);
}

std::size_t IntervalList::memory() const {
    return entries_.capacity() * sizeof(Entry) + table_.capacity() * sizeof(std::uint32_t);
}

}  // namespace pbs::rrule
