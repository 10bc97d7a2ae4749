// Searches for instants at which two windows are open at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rrule/window.h"

namespace pbs::rrule {

// The first instant at which two windows are both open.
struct Overlap {
    Instant at;
    std::size_t first;  // the two windows' places in the list; first < second
    std::size_t second;
};

// Compares windows: finds the first instant at or after `from` at which two of them are open, with non-work
// days taken into account.
//
// Exact for the whole future, by arithmetic: the days that two windows may share are found for whole years at
// once (YearDays), and only those days are compared by the clock. The days of rules, non-work days and
// changes of the clock repeat, so one common period after the last single date covers all. The bound is the
// year 9999, where iCalendar's dates end; it matters only for rules with an INTERVAL whose common period is
// longer than that.
class OverlapSearch {
  public:
    // `holidays` are the non-work days for all windows. The search gives up when its work exceeds `most`, or
    // when another thread sets `end` (null: nobody does).
    OverlapSearch(const NonWorkDays& holidays, Instant from, std::uint64_t most = kMostWork,
                  const std::atomic<bool>* end = nullptr)
        : holidays_(holidays), from_(from), most_(most), end_(end) {}

    // The first instant before `limit` at which both windows are open.
    std::optional<Instant> of(const Window& a, const Window& b, Instant limit = Instant::max());

    // The earliest overlap of two different windows of the list, at least one of which has its index in
    // `changed`.
    std::optional<Overlap> of(std::span<const Window> windows, std::span<const std::size_t> changed);

    // The years and days looked at so far: the measure of work, some 25 ns each. gave_up() adds 16 for each
    // compared pair of windows. The results of a search that gave up mean nothing.
    std::uint64_t work() const { return work_; }
    bool gave_up() const {
        return work_ + pairs_ * kWorkOfAPair >= most_ ||
               (end_ != nullptr && end_->load(std::memory_order_relaxed));
    }

    // kMostWork takes some 50 ms: several hundred times the work for 300 windows as sites have them.
    // kLongWork takes some seconds, for a search that nobody waits for.
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
