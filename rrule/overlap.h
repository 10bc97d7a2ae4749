// Whether windows are ever open together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rrule/window.h"

namespace pbs::rrule {

// Where two windows are first open together.
struct Overlap {
    Instant at;
    std::size_t first;  // indexes into the list; first < second
    std::size_t second;
};

// Compares windows: the first instant at or after `from` at which two of them are open, non-work days taken
// out where they don't apply.
//
// Exact for the whole future, by arithmetic: which days two windows may share is asked of whole years at once
// (YearDays), and only such days are looked at by the clock. The days of rules, of non-work days and of
// changes of the clock repeat; one common period after the last single date tells all of them. The bound is
// the year 9999, where iCalendar's dates end: it matters only for rules with an INTERVAL whose common period
// is longer than that.
class OverlapSearch {
  public:
    // `holidays` are those of all windows. A search that takes more than `most` work is given up, and so is
    // one whose `end` another thread sets; null: none does.
    OverlapSearch(const NonWorkDays& holidays, Instant from, std::uint64_t most = kMostWork,
                  const std::atomic<bool>* end = nullptr)
        : holidays_(holidays), from_(from), most_(most), end_(end) {}

    // The first common instant before `limit`.
    std::optional<Instant> of(const Window& a, const Window& b, Instant limit = Instant::max());

    // The earliest overlap of two different windows of the list, of which one at least has its index in
    // `changed`.
    std::optional<Overlap> of(std::span<const Window> windows, std::span<const std::size_t> changed);

    // How many years and days have been looked at: the work, some 25 ns each. A pair of windows that never
    // meet counts besides as 16 of them. What a search that gave up said says nothing.
    std::uint64_t work() const { return work_; }
    bool gave_up() const {
        return work_ + pairs_ * kWorkOfAPair >= most_ ||
               (end_ != nullptr && end_->load(std::memory_order_relaxed));
    }

    // Some 50 ms, several hundred times the work for 300 windows as sites have them; and some seconds, for
    // whom nobody waits.
    static constexpr std::uint64_t kMostWork = 2'000'000;
    static constexpr std::uint64_t kLongWork = 100'000'000;

  private:
    class Pair;
    static constexpr std::uint64_t kWorkOfAPair = 16;

    const NonWorkDays& holidays_;
    Instant from_;
    std::uint64_t most_;
    const std::atomic<bool>* end_;
    std::uint64_t work_ = 0;
    std::uint64_t pairs_ = 0;
};

}  // namespace pbs::rrule
