// Keeps disjoint intervals in a list that can be searched. Internal to rrule/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// Disjoint intervals, ascending and not touching.
//
// Intervals are kept in blocks of seven. A block is a line of the cache (64 bytes, 9.2 an interval), and
// answers every question about an instant in it. A search begins at the block where the instant would be if
// the intervals were spread evenly, as those of most rules are: it takes O(1) for such rules, and O(log n) at
// most. Instants are seconds since the first start, in 32 bits, or in 64 in a list that spans more than 136
// years.
class IntervalList {
  public:
    // The surroundings of an instant: `inside` holds throughout [from, to). Behind the last interval, `to` is
    // Instant::max().
    struct Place {
        Instant from;
        Instant to;
        bool inside;
    };

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    Interval operator[](std::size_t i) const;
    // The first start; Instant::max() of an empty list.
    Instant begin() const { return origin_; }

    void clear() { *this = {}; }
    // Appends intervals, which must be ascending and disjoint and start at or after the last one's end.
    // Intervals that touch become one.
    void append(const std::vector<Interval>& more);
    // Puts intervals, which must end at or before the first one's start, in front of it.
    void prepend(std::vector<Interval> earlier);
    // Moves the end of the last interval to a later instant.
    void end_at(Instant t);

    // The surroundings of t, which must not be before begin().
    Place around(Instant t) const;
    // The index of the first interval that ends after t; size() if there is none.
    std::size_t index(Instant t) const;
    // The memory on the heap, in bytes.
    std::size_t memory() const;

  private:
    static constexpr std::size_t kInBlock = 7;

    // Seven intervals, as times since origin_.
    template <class Time>
    struct alignas(16 * sizeof(Time)) Block {
        static constexpr Time kNone = std::numeric_limits<Time>::max();
        // The end of the last interval before the block (0 if there is none), then start, end, start, end ...
        // of the block's own; unused ones are kNone.
        Time at[2 * kInBlock + 1];
    };
    template <class Time>
    using Blocks = std::vector<Block<Time>>;

    template <class Time>
    Time since_begin(Instant t) const;
    template <class Time>
    std::size_t guess(Time t, std::size_t count) const;
    template <class Time>
    typename Blocks<Time>::const_iterator find(const Blocks<Time>& blocks, Time t) const;
    template <class Time>
    void add(Blocks<Time>& blocks, const Interval& part);
    template <class Time>
    Place around(const Blocks<Time>& blocks, Instant t) const;
    template <class Time>
    std::size_t index(const Blocks<Time>& blocks, Instant t) const;

    // Calls do_it with the blocks that are in use, narrow_ or wide_.
    template <class Do>
    auto with_blocks(const Do& do_it) const {
        return is_wide_ ? do_it(wide_) : do_it(narrow_);
    }
    template <class Do>
    auto with_blocks(const Do& do_it) {
        return is_wide_ ? do_it(wide_) : do_it(narrow_);
    }

    Instant last_end() const { return (*this)[size_ - 1].end; }
    std::vector<Interval> intervals() const;
    // Switches to 64-bit times if times up to `end` need them.
    void reach(Instant end);
    void set_scale();

    // The members that each lookup reads come first.
    Instant origin_ = Instant::max();
    // The block of a time is near (time >> shift_) * scale_ >> 32.
    std::uint32_t scale_ = 0;
    std::uint8_t shift_ = 0;
    bool is_wide_ = false;
    Blocks<std::uint32_t> narrow_;
    Blocks<std::int64_t> wide_;
    std::size_t size_ = 0;
};

}  // namespace pbs::rrule
