// The resource schedule: who has what, and until when (schedd API, "prepare_resource_schedules",
// "add_job_utilization").
//
// It holds the running jobs until their ends, and, for the time of one cycle, the jobs that the cycle started
// and the reservations of jobs that wait; and for each limit that somebody asked about the profile of its
// use. It is made for the first question about the future. The part of the running jobs is kept from cycle to
// cycle: jobs that start and end are noted, and taken up by the next cycle that asks.
//
// What only time forbids (windows of queues, prime time, dedicated time) is not in it: these go on for ever,
// and the filters that check them say until when (Refusal::until).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/future/timeline.h"
#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

class ResourceSchedule {
  public:
    // What a job has.
    struct Holding {
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
        std::int64_t nodes = 0;
        std::uint32_t request = 0;  // its number in Requests
        QueueSlot queue = no_slot;
        std::uint32_t reservation = no_slot;  // its id; no_slot: the job runs, or was started
        std::vector<std::uint32_t> views{};   // the numbers of those that it is counted in
        std::int64_t dedicated_views = 0;     // how many of them are of dedicated queues
        std::vector<Vnodes::Share> shares{};
        Instant end{};
    };
    // A job ends, or one with a reservation begins.
    struct Event {
        Instant at;
        std::uint32_t holding;
        bool begins;
    };

    // ---- Between cycles. O(1); what is noted takes effect with the next begin_cycle().

    // A job runs that didn't.
    void started(JobSlot job);
    // A running job ends, or changes: to be told of before another job has its slot.
    void ended(JobSlot job);
    // Running jobs changed, nobody says how.
    void forget() { times_all_ = none_; }
    // Gives back what it holds of the requests.
    void clear(Requests& requests);

    // ---- In a cycle. `state` and `tables` have to outlive it.

    // Takes up the running jobs as they are: all of them, if anything but jobs that start and end has changed
    // since the last time, or if `times_all` (EventsSince) is another one; else O(n + k log n) for k of them.
    void begin_cycle(const CycleState& state, Tables& tables, std::uint64_t times_all);
    // The part of the cycle goes.
    void end_cycle();
    bool is_in_cycle() const { return state_ != nullptr; }

    // A job that the cycle started, or a reservation.
    void add(Holding holding, const rrule::Interval& when);

    // From now on, in order of time; at one instant ends come first. Valid until the next add().
    std::span<const Event> events();
    const Holding& holding(const Event& event) const { return holdings_[event.holding]; }
    const Request& request(const Holding& h) const { return tables_->requests[h.request]; }

    // How much of a limit is in use over time, from now on, with the capacity. O(n log n) for the first
    // question about a limit, else O(k log n) for what started and ended since the last one. To be asked
    // while the vnodes are as they are now. The profile is valid until the next add() or end_cycle().
    Demand demand(const Limit& limit);
    // The same of a column of all vnodes of a pool together.
    Demand demand_of_pool(PoolId pool, std::uint32_t column, std::int64_t amount);

  private:
    static constexpr std::uint64_t none_ = UINT64_MAX;
    static constexpr std::int64_t cycles_kept = 16;
    // A limit that was asked about.
    struct Known {
        Timeline running;  // of the running jobs, as if they had always run
        bool fits = true;  // every sum of it
        Timeline profile;  // the same with the part of the cycle, where that has anything of it
        bool differs = false;
        std::size_t parts = 0;       // of the cycle's that were looked at
        std::int64_t asked = 0;      // in which cycle, for the last time
        std::int64_t capacity = -1;  // of a pool, once it is known
    };
    // Something that holds in this cycle only.
    struct Part {
        std::uint32_t holding;
        rrule::Interval when;
    };
    // What the numbers of views, and what jobs use of them, depend on.
    struct Basis {
        struct View {
            QueueSlot queue;
            PoolId pool;
            bool dedicated;
            friend bool operator==(const View&, const View&) = default;
        };
        std::vector<View> views;
        const Vnodes* vnodes = nullptr;
        std::uint64_t version = 0;
        const Settings* settings = nullptr;
        friend bool operator==(const Basis&, const Basis&) = default;
    };
    static Basis basis_of(const CycleState& state);
    void load();
    void take_up_changes();
    std::uint32_t add_running(JobSlot job);
    void change_profiles(std::span<const std::uint32_t> holdings, int sign);
    void note_vnodes_of(std::span<const std::uint32_t> holdings);
    void forget_pools_that_count_otherwise();
    Known& up_to_date(const LimitKey& key);
    std::int64_t use(const Holding& holding, const LimitKey& key) const;
    void add_uses(const LimitKey& key, std::span<const std::uint32_t> holdings, int sign, Known& known) const;

    const CycleState* state_ = nullptr;  // null: between cycles
    Tables* tables_ = nullptr;
    Basis basis_;
    std::uint64_t times_all_ = none_;  // none_: nothing is kept
    std::int64_t cycles_ = 0;

    // Those of running jobs, some of which are unused, and behind them those of the cycle.
    std::vector<Holding> holdings_;
    std::size_t running_ = 0;  // how many the first part has
    std::vector<std::uint32_t> unused_;
    std::unordered_map<JobSlot, std::uint32_t> holding_of_;
    std::vector<Event> ends_;  // of running jobs, in order
    // What was noted since the last cycle that asked.
    std::vector<JobSlot> started_;
    std::vector<std::uint32_t> ended_;  // holdings

    // By vnode, Vnodes::counted_columns() for the profiles of pools; and the vnodes of jobs that started or
    // ended since.
    std::vector<std::uint64_t> counted_;
    std::vector<VnodeSlot> touched_;

    std::vector<Part> parts_;
    std::vector<Event> events_;
    bool events_known_ = false;
    std::map<LimitKey, Known> known_;
};

}  // namespace pbs::sched
