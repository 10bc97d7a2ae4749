// A scheduler's memory from one cycle to the next, by which a cycle after single events needn't consider all
// jobs (turns.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/future/kept_estimates.h"
#include "server_plugin/scheduler/future/kept_reservation.h"
#include "server_plugin/scheduler/future/kept_tops.h"
#include "server_plugin/scheduler/future/resource_schedule.h"
#include "server_plugin/scheduler/pending/pending_jobs.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/own_states.h"
#include "values/tables.h"

namespace pbs::sched {

struct Policy;

// Events since the last cycle.
struct EventsSince {
    // True if something has happened that the members below don't describe. All jobs have to be considered
    // then.
    bool everything = true;
    // True if jobs that aren't in `changed` have changed, too, or if the order of the jobs has changed.
    bool lost = true;
    std::vector<JobSlot> changed;      // jobs that arrived or were altered, even if they are gone
    std::vector<VnodeSlot> freed;      // vnodes on which a job ended
    std::vector<UseKey> less_of;       // limits that count fewer jobs now, because a job ended
    bool started = false;              // a job started, by a cycle or by an operator
    bool started_alone = false;        // a started job has vnodes exclusively
    bool told = false;                 // a program of server_dyn_res has reported another amount
    std::uint64_t times_all = 0;       // the number of calls of all() in this process
    std::uint64_t times_settings = 0;  // the number of calls of settings_changed()

    void forget();
    // Notes an event after which any job may start.
    void all();
    // Notes an event after which any job may start, and which may have changed the order of the jobs or the
    // queues in which they start.
    void settings_changed();
    void job_changed(JobSlot job);
    void job_started(bool alone) {
        started = true;
        started_alone = started_alone || alone;
    }
    void amount_told() { told = true; }
    void job_ended(QueueSlot queue, const Entities& whose, std::span<const VnodeSlot> vnodes);

    // The greatest lengths of `changed` and `freed`. With more changed jobs or freed vnodes, considering all
    // jobs costs no more.
    static constexpr std::size_t kMostChanged = 65536;
    static constexpr std::size_t kMostFreed = 64;
};

// The limits on the jobs of single owners and groups that were below their maxima when a job of theirs ended.
// Each is noted with PendingJobs::clock() at that time. Jobs that such a limit refused before may be too
// large for all vnodes since then, and haven't been considered.
class OpenLimits {
  public:
    struct Open {
        UseKey key;
        std::uint32_t since = 0;
    };
    void clear() { of_.clear(); }
    void add(const UseKey& key, std::uint32_t now);
    void remove(const UseKey& key);
    // Returns when a limit of the owner or group last opened; 0: never.
    std::uint32_t last_opened(EntityKind entity, std::uint32_t who) const {
        const auto found = of_.find(place(entity, who));
        return found == of_.end() ? 0 : found->second.last;
    }
    // Calls f with each Open of the owner or group, and removes those for which f returns false.
    template <class F>
    void visit(EntityKind entity, std::uint32_t who, F f) {
        const auto found = of_.find(place(entity, who));
        if (found != of_.end()) std::erase_if(found->second.list, [&](const Open& open) { return !f(open); });
    }
    // Calls f with each Open.
    template <class F>
    void visit_all(F f) const {
        for (const auto& [who, limits] : of_)
            for (const Open& open : limits.list) f(open);
    }

  private:
    struct OfEntity {
        std::uint32_t last = 0;
        std::vector<Open> list;
    };
    static std::uint64_t place(EntityKind entity, std::uint32_t who) {
        return static_cast<std::uint64_t>(entity) << 32 | who;
    }
    // By kind and number of the entity. Each entity of which a limit has opened stays until a cycle over all
    // jobs.
    values::HashMap<std::uint64_t, OfEntity> of_;
};

struct EventMemory {
    EventsSince since;
    PendingJobs pending;
    bool pending_known = false;      // `pending` has all jobs except those in `changed`
    const Policy* policy = nullptr;  // the policy that `pending` is sorted by
    bool prime_now = false;          // `pending` is in the order of prime time
    bool by_growth = false;          // `pending` is in the order of values that grow (Policy::growth())
    // With weighted_priority: the range of urgencies that `pending` is sorted by.
    std::optional<std::pair<double, double>> urgencies;
    // The jobs that the last cycle started and that no event has shown running; true: the job waited on
    // another server, and runs here as another job.
    values::HashMap<JobHandle, bool> started;
    std::set<Instant> instants;  // the instants at which time may lift a refusal
    // The uses of limits that were below their maxima at the last check. Jobs that such a limit refused
    // earlier may wait now until vnodes have more free, because they were too large for any vnode. They
    // haven't been considered since.
    std::vector<UseKey> open;
    OpenLimits open_of_users;
    // By the number of a blocker's bit: the last PendingJobs::clock() at which it was lifted for any size.
    std::array<std::uint32_t, 32> lifted_at{};
    Blockers always_open = 0;  // the blockers of further uses below their limits, which don't fit into `open`
    // Reservations that a cycle after events may use instead of searching for the jobs' starts again.
    std::vector<KeptReservation> kept;
    KeptTops tops;                   // the same for top jobs
    KeptEstimates top_starts;        // the same for many top jobs for which only room decides
    KeptEstimates estimates;         // the expected starts of later jobs
    std::size_t estimating = 0;      // the work of the last estimation, in steps (Expectations)
    OwnStates own;                   // data of rules
    std::vector<QueueSlot> held_up;  // queues in which one job holds up later ones, which were skipped
    bool refused_by_sets = false;    // CycleState::refused_by_sets counted a job that may still wait
    ResourceSchedule schedule;       // the schedule of running jobs only
    std::optional<Instant> last;     // the instant of the last cycle
    Instant last_full{};
};

}  // namespace pbs::sched
