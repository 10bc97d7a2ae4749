// The resource schedule: who has what, and until when, as it is known in a cycle (schedd API,
// "prepare_resource_schedules", "add_job_utilization").
//
// It holds the running jobs until their ends, the jobs that the cycle started, and the reservations of jobs
// that wait; and for each limit that somebody asked about the profile of its use. Made for the first question
// of a cycle, so that cycles without any don't pay for it.
//
// What only time forbids (windows of queues, prime time, dedicated time) is not in it: these go on for ever,
// and the filters that check them say until when (Refusal::until).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "server_plugin/scheduler/future/timeline.h"
#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/limits.h"

namespace pbs::sched {

class ResourceSchedule {
  public:
    // A job that has something from `start` on until `end`.
    struct Holding {
        Instant start{};
        Instant end{};
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
        const Request* request = nullptr;
        std::int64_t nodes = 0;
        QueueSlot queue = no_slot;
        std::uint32_t reservation = no_slot;  // its id; no_slot: it runs
        std::uint32_t first_view = 0, views = 0;
        std::int64_t dedicated_views = 0;
        std::uint32_t first_share = 0, shares = 0;
    };
    // A job ends, or one with a reservation begins.
    struct Event {
        Instant at;
        std::uint32_t holding;
        bool begins;
    };

    // `state` has to outlive this; it is asked for its tables only.
    explicit ResourceSchedule(const CycleState& state) : state_(&state) {}

    // Of the shares, only what Vnodes knows by that name is kept. O(views + shares).
    void add(const LimitUser& user, const rrule::Interval& when, std::span<const Vnodes::Share> shares,
             std::uint32_t reservation = no_slot);

    // In order of time; at one instant ends come first. Sorted once, and what was added since merged in: O(n
    // + k log k). Valid until the next add().
    std::span<const Event> events();
    const Holding& holding(const Event& event) const { return holdings_[event.holding]; }
    // The numbers of the views that it is counted in.
    std::span<const std::uint32_t> views(const Holding& h) const {
        return std::span(views_).subspan(h.first_view, h.views);
    }
    std::span<const Vnodes::Share> shares(const Holding& h) const {
        return std::span(shares_).subspan(h.first_share, h.shares);
    }

    // How much of a limit is in use over time, with the capacity. O(n log n) for the first question about a
    // limit and O(n + k log k) after k additions, else O(log limits). To be asked while the vnodes are as
    // they are now. The profile is valid as long as this.
    Demand demand(const Limit& limit);
    // The same of a column of all vnodes of a pool together.
    Demand demand_of_pool(PoolId pool, std::uint32_t column, std::int64_t amount);

  private:
    struct Known {
        Timeline profile;
        std::size_t holdings = 0;    // that are in it
        std::int64_t capacity = -1;  // of a pool, once it is known
    };
    Known& up_to_date(const LimitKey& key);
    std::int64_t use(const Holding& holding, const LimitKey& key) const;

    const CycleState* state_;
    std::vector<Holding> holdings_;
    std::vector<std::uint32_t> views_;
    std::vector<Vnodes::Share> shares_;
    std::vector<Event> events_;
    std::size_t sorted_ = 0;
    std::map<LimitKey, Known> known_;
};

}  // namespace pbs::sched
