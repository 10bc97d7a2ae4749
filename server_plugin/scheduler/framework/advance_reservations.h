// Advance reservations in a cycle: their places are booked, so that jobs keep out of them, and reservations
// that are asked for are confirmed or denied before any job is looked at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

// The answer to a reservation that is asked for.
struct ReservationAnswer {
    ReservationHandle reservation{};
    struct Placed {
        std::uint32_t request = 0;  // in Requests
        Placement placement{};
    };
    std::vector<Placed> placements{};  // places at each of its times that were asked for
    std::string why_not{};             // empty: confirmed
    std::optional<Instant> start{};    // for a reservation that is to begin as soon as possible
};

// Books the places of reservations at `now` and later. Call while the inventory is as it is now.
void book_reservations(Tables& tables, Vnodes& vnodes, Instant now);

// Decides about the reservations of the cycle's partition that are asked for, in the order in which they
// came, and books the confirmed ones. A reservation is confirmed if its places are free for all of its time:
// counting the ends of running jobs, beside other reservations, on vnodes that take jobs, and not in part in
// dedicated time. Waiting jobs don't matter. A standing reservation is confirmed if that holds for all of its
// times that are asked for; one that is to begin as soon as possible, at the first instant for which it
// holds.
std::vector<ReservationAnswer> answer_reservations(CycleContext& context, const Queues& queues);

}  // namespace pbs::sched
