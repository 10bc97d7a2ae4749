// The struct Holding: the resources that a job holds for some time.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>

#include "server_plugin/scheduler/model/entity_limits.h"
#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

// The resources that a running job holds, or that a job with a reservation will hold.
struct Holding {
    JobSlot job = kNoSlot;  // the running job; kNoSlot: it doesn't run yet, or is to be preempted
    Entities whose;
    Seconds walltime{-1};  // the walltime that the job asks for; -1: none
    std::int64_t nodes = 0;
    std::uint32_t request = 0;  // the number of its request in Requests
    QueueSlot queue = kNoSlot;
    // The id of the reservation; kNoSlot: the job runs, or the cycle started it.
    std::uint32_t reservation = kNoSlot;
    absl::InlinedVector<std::uint32_t, 2> views{};  // the numbers of the views that count the job
    std::int64_t dedicated_views = 0;               // how many of these views are of dedicated queues
    // The job is preempted: its resources are subtracted from the sums until its end.
    bool given_up = false;
    Vnodes::Shares shares{};
    Instant end{};
    Instant began{};
    // The job gives its resources back from `stops` until `resumes` (QueueHours::Course). Instant::max():
    // never.
    Instant stops = Instant::max();
    Instant resumes = Instant::max();
    bool pauses() const { return stops < resumes; }
};

}  // namespace pbs::sched
