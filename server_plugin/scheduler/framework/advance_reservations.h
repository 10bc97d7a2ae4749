// Advance reservations in a cycle: what they have is booked, so that jobs keep out of it, and those that are
// asked for are confirmed or denied before any job is looked at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/framework/queues.h"

namespace pbs::sched {

// What became of one that is asked for.
struct ReservationAnswer {
    ReservationHandle reservation{};
    struct Placed {
        std::uint32_t request = 0;  // in Requests
        Placement placement{};
    };
    std::vector<Placed> placements{};  // where it is, at each of its times that were asked for
    std::string why_not{};             // empty: it is confirmed
    std::optional<Instant> start{};    // of one that was to begin as soon as possible
};

// Books what reservations have at `now` and later. The caller does it while the inventory is as it is now.
void book_reservations(Tables& tables, Vnodes& vnodes, Instant now);

// Decides about the reservations of the cycle's partition that are asked for, in the order in which they
// came, and books those that are confirmed. A reservation is confirmed if its places are free for all of its
// time: by the ends of running jobs, beside other reservations, on vnodes that take jobs, and not in part in
// dedicated time. Jobs that wait don't matter. A standing one is confirmed if that is so for all of its times
// that are asked for; one that is to begin as soon as possible at the first instant of which it is.
std::vector<ReservationAnswer> answer_reservations(CycleContext& context, const Queues& queues);

}  // namespace pbs::sched
