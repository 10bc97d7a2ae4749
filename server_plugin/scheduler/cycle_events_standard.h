// A cycle of the standard algorithm after single events (cycle_events.cc tells what that is).
//
// The jobs are in lanes, one for each queue and class, in the order that the policy gives them; starving jobs
// are of the class `waiting`. A job that was refused is looked at again if it is small enough for a vnode of
// which jobs gave something back, or for which the last cycle had a reservation; or, as its chunks may have
// pieces of several vnodes, for the host of one. While a job may be given a
// reservation, or may hold up the others (strict_ordering, starving jobs), all jobs before it in the order
// are looked at. Jobs with several kinds of chunks have lanes of their own, and may start on any vnode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/cycle_parts.h"

namespace pbs::sched {

// As nothing_may_start(), where only jobs changed. The memory is left alone.
bool standard_nothing_may_start(const CycleInput& input);

class Cycle::StandardEvents {
  public:
    explicit StandardEvents(Cycle& cycle);
    // False: a full cycle has to be run instead; nothing is decided then.
    bool consider();

  private:
    // So many jobs are looked at for a reservation; with more, a look at all jobs is as good.
    static constexpr int most_unfiltered = 64;

    // Of a lane, the next job that may start, that is new, or that may be given a reservation.
    struct Turn {
        LaneId lane = 0;
        WaitingJobs::Position at;
        std::uint32_t rank = 0;  // of the queue; with by_queue
        WaitingKey key{};
        std::size_t as_of = 0;    // state_number() when it was found
        bool unfiltered = false;  // whatever its size
        friend bool operator>(const Turn& a, const Turn& b) {
            return a.rank != b.rank ? a.rank > b.rank : a.key > b.key;
        }
    };
    // What may start of a lane, at most.
    struct Limits {
        std::size_t as_of = SIZE_MAX;
        std::vector<SizeLimit> list;
        SizeLimit around;
    };

    // Grows with whatever makes it harder to start.
    std::size_t state_number() const;
    bool consider_lanes(JobClass job_class);
    bool next_turn(Turn& turn);
    bool find(const Lane& lane, Turn& turn, WaitingJobs::Position& at);
    bool may_reserve(const Lane& lane, const QueueView& view) const;
    const Limits& limits_of(QueueView& view, bool is_mixed);
    bool may_start_anywhere(const QueueView& view) const;
    bool may_have_room(JobSlot job, const QueueView& view);

    Cycle& c_;
    const WaitingJobs& waiting_;
    std::vector<std::uint32_t> ranks_;  // of queues
    std::vector<VnodeSlot> vnodes_;     // on which a job may find room that it didn't before
    bool limits_freed_ = false;         // of the server
    std::vector<Limits> limits_;        // by view, twice: mixed lanes behind the others
    std::unordered_map<std::uint64_t, std::size_t> room_;  // by request and pool: state_number() and 1; 0: no
    int unfiltered_ = 0;                                   // jobs
};

}  // namespace pbs::sched
