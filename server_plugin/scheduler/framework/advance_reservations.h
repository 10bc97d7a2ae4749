// Advance reservations in a cycle: their places are booked, so that other jobs don't get them, and requested
// reservations are confirmed or denied before any job is considered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

// The answer to a requested reservation.
struct ReservationAnswer {
    ReservationHandle reservation{};
    struct Placed {
        std::uint32_t request = 0;  // its number in Requests
        Placement placement{};
    };
    std::vector<Placed> placements{};  // the places for each of its requested times
    std::string why_not{};             // empty: confirmed
    std::optional<Instant> start{};    // only for a reservation that begins as soon as possible
};

// Books the places of reservations from `state.now` on, in the vnodes of the state. REQUIRES: the vnodes are
// as at that instant.
void book_reservations(Tables& tables, const CycleState& state);

// Decides about the requested reservations of the cycle's partition, in the order of their submission, and
// books the confirmed ones. A reservation is confirmed if its places are free for all of its time, given the
// ends of running jobs and the other reservations. The vnodes have to take jobs, and the time has to be
// wholly inside or wholly outside of dedicated time. Waiting jobs are ignored. A standing reservation is
// confirmed if its places are free for all of its requested times. A reservation that is to begin as soon as
// possible begins at the first instant from which its places are free.
std::vector<ReservationAnswer> answer_reservations(CycleContext& context, const Queues& queues);

}  // namespace pbs::sched
