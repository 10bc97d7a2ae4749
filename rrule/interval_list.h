// A searchable list of disjoint intervals. Internal to rrule/.
#pragma once

#include <cstdint>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// Ascending, disjoint, not touching. Searched in O(1) when the intervals are spread evenly, in O(log n)
// always: a table says at which interval each stretch of time begins. 24 bytes an interval, and 4 to 8 for
// the table.
class IntervalList {
  public:
    struct Entry {
        Instant start;
        Instant end;
        Seconds before;  // how long the intervals before this one are together
    };

    bool empty() const { return entries_.empty(); }
    std::size_t size() const { return entries_.size(); }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }

    void clear();
    // Appends intervals that are ascending and disjoint and start at or after the last one's end; touching
    // ones become one.
    void append(const std::vector<Interval>& more);
    // Puts intervals that end at or before the first one's start in front of it.
    void prepend(std::vector<Interval> earlier);
    // Moves the last end.
    void end_at(Instant t) { entries_.back().end = t; }

    // The index of the first interval that ends after t; size() if there is none.
    std::size_t index(Instant t) const;
    // The seconds before t that are inside.
    Seconds measure(Instant t) const;
    // Bytes on the heap.
    std::size_t memory() const;

  private:
    void add(const Interval& part);
    void make_table();

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> table_;  // table_[k]: index(begin + k * 2^shift)
    std::int64_t begin_ = 0;
    int shift_ = 0;
};

}  // namespace pbs::rrule
