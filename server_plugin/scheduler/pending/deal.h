// A deal decides how the lanes (sorted lists of pending jobs, pending_jobs.h) of a class take turns. The
// order within a lane is that of the profile's chain of comparators.
//
// To add one: write an `extern const Deal k<Name>Deal` into plugins/deals.cc, and put it into the table of
// each profile that has it. The first deal in the table that the policy wants for a class is used.
#pragma once

#include <cstdint>
#include <span>

#include "server_plugin/scheduler/model/past_usage.h"
#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

// The jobs of a lane: with `by_user` those of one user; else those of one queue, or all of the class.
struct DealtLane {
    bool by_user = false;
    QueueSlot queue = kNoSlot;  // the lane's queue, if it is a lane of one queue
    JobSlot first = kNoSlot;    // any job of the lane
};

struct DealContext {
    const Settings& settings;
    const JobTable& jobs;
    const QueueTable& queues;
    // By queue slot: the queue's rank among queues in order of priority.
    std::span<const std::uint32_t> queue_rank;
    std::int64_t usage = 0;  // the past usage of the lane's user, in the units of charge_units()
};

struct Deal {
    const char* name;
    bool (*wanted)(const Settings& settings, Instant now);
    // True: each user has a lane. False: each queue has one.
    bool of_users = false;
    // Splits the lanes of queues or users: jobs with different numbers, such as that of their group, are in
    // different lanes. Null: lanes aren't split. Not allowed with `by_shares`, nor if the number of a job
    // changes without an event.
    std::uint32_t (*part)(const JobTable& jobs, JobSlot job) = nullptr;
    // True: overdue jobs are excluded from the deal. They come before all others in any case.
    bool spares_overdue = false;
    // Returns the turn of the lane's first job. The lane with the least turn goes first; among equal turns,
    // the one with the least rank; among equal ranks, the one whose job has the least key.
    std::int64_t (*begin)(const DealContext& context, const DealtLane& lane) = nullptr;
    std::uint32_t (*rank)(const DealContext& context, const DealtLane& lane) = nullptr;  // null: 0
    // Returns the amount that a job adds to the turn of later jobs in its lane. Null: nothing.
    std::int64_t (*charge)(const Settings& settings, const JobTable& jobs, const OrderedJob& job) = nullptr;
    // True: lanes with equal turns take turns in a circle, beginning with the lane after the one that had the
    // last turn (past_usage_deal.h).
    bool in_circle = false;
    // True: each entity of the fair-share tree has its own lanes, too. Among lanes with equal turns and
    // ranks, the entity that has used the least of its share goes first (framework/turns.h).
    bool by_shares = false;
};

}  // namespace pbs::sched
