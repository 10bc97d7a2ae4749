// The free amounts of each vnode over time: now, at the ends of the jobs that run, and while jobs that are
// expected to start will run.
//
// A look-ahead tries one instant after the other, and counts all jobs that end or begin before it. These
// lists answer when one vnode alone has room for some time, without a walk over the other vnodes' jobs.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rrule/window.h"
#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

using rrule::Instant;
using rrule::Seconds;

class FreeTimes {
  public:
    // The least value that a column has to have. The two columns that aren't amounts have negative numbers:
    // that of the jobs that have the vnode exclusively (kOpenColumn), and that of all its jobs
    // (kEmptyColumn). A vnode that takes no jobs has kClosed in kOpenColumn.
    struct Least {
        std::uint32_t column = 0;
        std::int64_t value = 0;
    };
    using Needs = absl::InlinedVector<Least, 6>;
    // A place for one chunk: the vnode, the first instant from which it has room, and its index in the list
    // that was searched.
    struct Place {
        Instant start = Instant::max();
        VnodeSlot vnode = kNoSlot;
        std::uint32_t index = kNoSlot;
        bool is_before(const Place& other) const {
            return start != other.start ? start < other.start : index < other.index;
        }
    };

    // Gives each vnode its present amounts for ever. O(vnodes).
    void begin(const Vnodes& vnodes);
    // Gives shares of vnodes back (sign 1), or takes them (sign -1), from an instant on. REQUIRES: calls are
    // in order of time, and take() wasn't called before. O(shares).
    void change(std::span<const Vnodes::Share> shares, Instant at, int sign);
    // Takes shares of vnodes for some time. O(steps of these vnodes).
    void take(std::span<const Vnodes::Share> shares, const rrule::Interval& when);

    // Returns the first instant from `from` on and before `before` from which the vnode has all these amounts
    // for `duration`; Instant::max(): there is none. O(steps of the vnode).
    Instant earliest(VnodeSlot vnode, const Needs& needs, Instant from, Seconds duration,
                     Instant before = Instant::max()) const;
    // Returns the first such place among vnodes; of several vnodes at the same instant, the first one in the
    // list. `may_use` is asked about a vnode that has room.
    template <class MayUse>
    Place earliest_of(std::span<const VnodeSlot> vnodes, const Needs& needs, Instant from, Seconds duration,
                      const MayUse& may_use);
    // Returns the first instant from `from` on from which vnodes have room for `count` chunks together, each
    // of which needs these amounts, for `duration`; Instant::max(): there is none.
    template <class MayUse>
    Instant earliest_of_several(std::span<const VnodeSlot> vnodes, const Needs& needs, std::int64_t count,
                                Instant from, Seconds duration, const MayUse& may_use);
    // Returns for how many of at most `count` such chunks the vnode has room in the whole interval.
    std::int64_t chunks_in(VnodeSlot vnode, const Needs& needs, std::int64_t count,
                           const rrule::Interval& when) const;
    // Returns whether the vnode has all these amounts in the whole interval.
    bool fits(VnodeSlot vnode, const Needs& needs, const rrule::Interval& when) const;
    // Returns the row of the vnode at an instant.
    std::span<const std::int64_t> at(VnodeSlot vnode, Instant when) const;
    // Writes the greatest value of each column in an interval into `row`.
    void find_most(VnodeSlot vnode, const rrule::Interval& when, std::vector<std::int64_t>& row) const;
    // Returns the needs of several chunks on one vnode.
    static Needs times(const Needs& needs, std::int64_t chunks);
    static bool is_met(const Needs& needs, const std::int64_t* row) {
        for (const Least& least : needs)
            if (row[least.column] < least.value) return false;
        return true;
    }
    // Returns the shortest interval from `from` on outside of which no column of the vnode has more than in
    // `before`. An empty one: there is none.
    rrule::Interval more_than(const FreeTimes& before, VnodeSlot vnode, Instant from) const;

    std::size_t vnodes() const { return lines_.size(); }

  private:
    static constexpr std::uint32_t kLevels = 12;
    static constexpr std::int64_t kClosed = std::numeric_limits<std::int32_t>::min();

    // The steps of a vnode, each as an instant and the row that holds from it on. The first begins at
    // Instant::min().
    using Line = std::vector<std::int64_t>;
    static std::int64_t number(Instant t) { return t.time_since_epoch().count(); }
    static Instant instant(std::int64_t number) { return Instant(Seconds(number)); }
    std::size_t step_at(const Line& line, Instant t) const;
    std::size_t cut(Line& line, Instant t) const;
    Instant end_of(const Line& line, std::size_t step) const {
        return step + stride_ < line.size() ? instant(line[step + stride_]) : Instant::max();
    }
    std::uint32_t level_of(const Needs& needs) const;
    // The number of chunks for which there is room grows by `more` at an instant.
    struct Change {
        Instant at;
        std::int64_t more = 0;
    };
    void add_changes(VnodeSlot vnode, const Needs& needs, std::int64_t count, Instant from, Seconds duration);
    void know_first();
    void know_first(VnodeSlot vnode);

    std::size_t stride_ = 1;  // the length of a step: 1 and the length of a row
    std::uint32_t key_ = 0;   // the column of ncpus; 0: there is none
    std::vector<Line> lines_;
    // By level and vnode: the first instant from which the vnode has, for however short a time, 2^(level-1)
    // CPUs; level 0: any number. A search leaves out vnodes that have them too late. Computed by the first
    // search.
    std::vector<std::vector<Instant>> first_;
    std::vector<Change> changes_;  // memory of a search for several chunks
};

template <class MayUse>
FreeTimes::Place FreeTimes::earliest_of(std::span<const VnodeSlot> vnodes, const Needs& needs, Instant from,
                                        Seconds duration, const MayUse& may_use) {
    know_first();
    const std::vector<Instant>& first = first_[level_of(needs)];
    Place best;
    for (std::uint32_t i = 0; i < vnodes.size(); ++i) {
        if (first[vnodes[i]] >= best.start) continue;
        const Instant start = earliest(vnodes[i], needs, from, duration, best.start);
        if (start < best.start && may_use(vnodes[i])) best = {start, vnodes[i], i};
        if (best.start <= from) break;
    }
    return best;
}

template <class MayUse>
Instant FreeTimes::earliest_of_several(std::span<const VnodeSlot> vnodes, const Needs& needs,
                                       std::int64_t count, Instant from, Seconds duration,
                                       const MayUse& may_use) {
    know_first();
    const std::vector<Instant>& first = first_[level_of(needs)];
    changes_.clear();
    for (const VnodeSlot vnode : vnodes)
        if (first[vnode] != Instant::max() && may_use(vnode))
            add_changes(vnode, needs, count, from, duration);
    std::ranges::sort(changes_, {}, &Change::at);
    std::int64_t room = 0;
    for (std::size_t i = 0; i < changes_.size();) {
        const Instant at = changes_[i].at;
        for (; i < changes_.size() && changes_[i].at == at; ++i) room += changes_[i].more;
        if (room >= count) return at;
    }
    return Instant::max();
}

}  // namespace pbs::sched
