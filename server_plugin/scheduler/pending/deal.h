// A deal: how the lanes of a class take turns. Within a lane the order is that of the profile's chain.
//
// To add one: write plugins/deal/<name>.cc with a `const Deal <name>_deal`, and put it into the table of the
// profiles that have it. The first deal of the table that the policy wants for a class is the one.
#pragma once

#include <cstdint>
#include <span>

#include "server_plugin/scheduler/model/past_usage.h"
#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

// What a lane is of: with `by_user` the jobs of one user, else those of one queue, or all of the class.
struct DealtLane {
    bool by_user = false;
    QueueSlot queue = no_slot;  // of lanes of queues
    JobSlot first = no_slot;    // any job of the lane
};

struct DealContext {
    const Settings& settings;
    const JobTable& jobs;
    const QueueTable& queues;
    std::span<const std::uint32_t> queue_rank;  // by queue slot: place among queues in order of priority
    std::int64_t usage = 0;                     // that is kept of the lane's user, in units of charge_units()
};

struct Deal {
    const char* name;
    bool (*wanted)(const Settings& settings, Instant now);
    // Is it about lanes of users, or about those of queues?
    bool of_users = false;
    // Not for overdue jobs, which come first however they are dealt.
    bool spares_overdue = false;
    // The turn of the lane's first job. The lane with the least turn goes first; of lanes with as much, the
    // one with the least rank, and then that whose job has the least key.
    std::int64_t (*begin)(const DealContext& context, const DealtLane& lane) = nullptr;
    std::uint32_t (*rank)(const DealContext& context, const DealtLane& lane) = nullptr;  // null: 0
    // What a job adds to the turn of those behind it in its lane. Null: nothing.
    std::int64_t (*charge)(const Settings& settings, const JobTable& jobs, const OrderedJob& job) = nullptr;
    // Lanes with equal turns are gone through in a circle, from the one on that had the last turn
    // (past_usage_deal.h).
    bool in_circle = false;
    // Lanes are of entities of the fair-share tree, too; of lanes with equal turns and ranks the entity that
    // has used the least of its share goes first (framework/turns.h).
    bool by_shares = false;
};

}  // namespace pbs::sched
