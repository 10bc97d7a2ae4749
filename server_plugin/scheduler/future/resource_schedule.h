// The resource schedule: which job holds which resources, and until when (schedd API,
// "prepare_resource_schedules", "add_job_utilization").
//
// It has the running jobs until their ends; and, during one cycle, the jobs that the cycle started and the
// reservations of waiting jobs. For each limit in a query it has the profile of the limit's use over time,
// which it makes for the first query. The running jobs last from cycle to cycle: their starts and ends are
// noted, and the next cycle with a query applies them.
//
// The schedule doesn't know refusals that only time lifts (windows of queues, prime time, dedicated time).
// These have no end in the schedule because they may last for ever; the filters that check them name the
// instant at which they end (Refusal::until).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/future/holding.h"
#include "server_plugin/scheduler/future/passed_ends.h"
#include "server_plugin/scheduler/future/timeline.h"
#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

class ResourceSchedule {
  public:
    using Holding = sched::Holding;
    // The end of a job, or the start of a job with a reservation.
    struct Event {
        Instant at;
        std::uint32_t holding;
        bool begins;
        bool given_up = false;  // Holding::given_up
        // The use by a job that is given up is taken away already, but the events of its running holding
        // still count. The events of the holding that is given up do the opposite: at an end or a pause they
        // go first, and add the use; at the end of a pause they go last, and take it away.
        auto order() const { return std::tuple(at, begins, given_up == begins, holding); }
    };

    // ---- Between cycles. Each call takes O(1), and has its effect at the next begin_cycle().

    // Notes that a job started.
    void started(JobSlot job);
    // Notes that a running job ends or changes. REQUIRES: no other job has its slot yet.
    void ended(JobSlot job);
    // Notes that running jobs have changed in an unknown way: the next cycle reads all of them.
    void forget() { times_all_ = kNone; }
    // Empties the schedule, and releases the requests that it uses.
    void clear(Requests& requests);

    // ---- During a cycle. `state` and `tables` have to outlive it.

    // Brings the schedule up to date with the running jobs. Reads all of them if anything but starts and ends
    // of jobs has changed since the last cycle, if there were many of these, or if `times_all` (EventsSince)
    // has changed. Otherwise O(n + k log n) for the k jobs that started or ended.
    void begin_cycle(CycleState& state, Tables& tables, std::uint64_t times_all);
    // Forgets the additions of this cycle.
    void end_cycle();
    bool is_in_cycle() const { return state_ != nullptr; }
    // Returns whether a running job has passed its planned end.
    bool is_late() const { return !ends_.empty() && ends_.front().at <= state_->now; }

    // Adds a job that the cycle started, or a reservation.
    void add(Holding holding, const rrule::Interval& when);

    // Returns the ends of running jobs from now on, in order of time.
    std::span<const Event> ends() const;
    // Returns the other events from now on, by additions, in order of time; at one instant, ends come first.
    // Valid until the next add().
    std::span<const Event> added_events();
    // Passes the ends of running jobs up to this instant, and takes back those after it, unless that takes
    // longer than to count each from now on. Returns the jobs that are passed; null: they have to be counted.
    // O(k) for k ends between this instant and that of the last call.
    // REQUIRES: `until` isn't before now.
    const PassedEnds* pass(Instant until);
    const Holding& holding(const Event& event) const { return holdings_[event.holding]; }
    // Returns the numbers of holdings that pause and haven't yet.
    std::vector<std::uint32_t> pausing();
    const Holding& holding(std::uint32_t number) const { return holdings_[number]; }
    // Returns whether the planned end of a running job is put off when it is reached (Planning::repeats()).
    bool puts_off_ends() const { return running_repeats_ > 0; }
    const Request& request(const Holding& h) const { return tables_->requests[h.request]; }

    // Returns the use of a limit over time, from now on, with the requested amount and the capacity. O(n log
    // n) for the first query about a limit, else O(k log n) for k jobs that started or ended since the last
    // one. REQUIRES: the vnodes are in their present state. The profile is valid until the next add() or
    // end_cycle().
    Demand demand(const LimitNeed& limit);
    // Returns the same for the use of a column of all vnodes of a pool together.
    Demand demand_of_pool(PoolId pool, std::uint32_t column, std::int64_t amount);

  private:
    static constexpr std::uint64_t kNone = UINT64_MAX;
    static constexpr std::int64_t kCyclesKept = 16;
    static constexpr std::size_t kFew = 8;  // up to so many events are put into a list one by one
    // The profile of a limit that was queried.
    struct LimitProfile {
        Timeline running;  // the use by running jobs, as if they had always run
        bool fits = true;  // all sums in `running` are in range
        Timeline profile;  // if `differs`: `running` with the additions of this cycle
        bool differs = false;
        std::size_t additions = 0;   // the number of additions_ in `profile`
        std::int64_t asked = 0;      // the number of the last cycle that queried the limit
        std::int64_t capacity = -1;  // the capacity of a pool, until vnodes change; -1: not known yet
    };
    // A holding that counts in this cycle only, and its span.
    struct Addition {
        std::uint32_t holding;
        rrule::Interval when;
    };
    // The facts on which the holdings of running jobs depend: the numbers of views, their pools and the
    // settings. If any changes, all running jobs are read again.
    struct Premises {
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
        friend bool operator==(const Premises&, const Premises&) = default;
    };
    static Premises premises_of(const CycleState& state);
    void load();
    void take_up_changes();
    void pass(const Event& end, int sign);
    void count_passed(Instant from, Instant to, int sign);
    void forget_passed_before_now();
    void remove_ends(std::span<const std::uint32_t> holdings);
    void add_ends(std::span<const std::uint32_t> holdings);
    std::uint32_t add_running(JobSlot job);
    void change_profiles(std::span<const std::uint32_t> holdings, int sign);
    void note_vnodes_of(std::span<const std::uint32_t> holdings);
    void forget_pools_that_count_otherwise();
    LimitProfile& up_to_date(const LimitKey& key);
    std::int64_t use(const Holding& holding, const LimitKey& key) const;
    void add_use(std::uint32_t holding, const rrule::Interval& when, std::int64_t amount,
                 std::vector<Use>& uses) const;
    void add_uses(const LimitKey& key, std::span<const std::uint32_t> holdings, int sign,
                  LimitProfile& known) const;

    CycleState* state_ = nullptr;  // null: no cycle is running
    Tables* tables_ = nullptr;
    Premises premises_;
    std::uint64_t times_all_ = kNone;  // EventsSince::times_all at load(); kNone: nothing is loaded
    // The instant of this cycle, or the last one: a look-ahead changes that of the state. If the clock goes
    // back, planned ends that were put off have to go back, too.
    Instant last_{};
    std::int64_t cycles_ = 0;

    // The holdings of running jobs, some of which are unused, followed by the additions of this cycle.
    std::vector<Holding> holdings_;
    std::size_t running_ = 0;            // the number of holdings_ of running jobs
    std::vector<std::uint32_t> unused_;  // the numbers of unused holdings
    std::unordered_map<JobSlot, std::uint32_t> holding_of_;
    std::vector<Event> ends_;  // the ends of running jobs, in order
    // The jobs that have started, and the holdings of jobs that have ended, since the last cycle with a
    // query.
    std::vector<JobSlot> started_;
    std::vector<std::uint32_t> ended_;

    // Vnodes::counted_columns() of each vnode when the profiles of pools were made; and the vnodes of jobs
    // that have started or ended since.
    std::vector<std::uint64_t> counted_;
    std::vector<VnodeSlot> touched_;

    std::vector<Addition> additions_;
    std::vector<Event> added_events_;
    bool added_events_known_ = false;
    PassedEnds passed_;
    std::size_t running_pauses_ = 0;   // the number of running jobs' holdings that pause
    std::size_t running_repeats_ = 0;  // the number of those whose ends are put off (Planning::repeats())
    bool added_pauses_ = false;        // any of additions_ pauses
    std::map<LimitKey, LimitProfile> known_;
};

}  // namespace pbs::sched
