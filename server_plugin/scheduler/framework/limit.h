// Limits on what running jobs use together. A limit is one row: whose jobs it counts, what it counts of them,
// and the maximum. Everything else is made from the row: the filter that refuses a job, the event that lifts
// the refusal, the largest size of the jobs that the event may let start, the amounts of the limit that
// reservations keep for waiting jobs, and the text for users.
//
// To add one: a row in plugins/limits.cc, as in
//
//     // short_jobs of the policy.
//     const Filter kShortJobsFilter = limit_filter(
//         "short_jobs",
//         {.entity = EntityKind::user,
//          .most = [](const QueueFacts& o) { return o.settings->short_jobs; },
//          .words = "Not Running: User has reached the limit of short jobs"});
//
// and its name in plugins/limits.h and in the tables of the profiles that have it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/pending/blockers.h"
#include "server_plugin/scheduler/pending/job_size.h"
#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

// The answer of a filter.
struct Refusal {
    Reason reason;  // nothing: the job passes
    // The changes that could lift the refusal, besides a change of the configuration.
    Blockers blockers = blocker::kAnything;
    // The first instant after now at which the answer may differ, because of time. Instant::max(): unknown.
    // nullopt: time doesn't lift the refusal.
    std::optional<Instant> until{};

    explicit operator bool() const { return static_cast<bool>(reason); }
    bool waits_for_jobs() const { return (blockers & blocker::kGivenBack) != 0; }
    bool is_lifted_by_start() const { return (blockers & blocker::kByStart) != 0; }

    // Makes a refusal that only the instant lifts.
    static Refusal until_instant(const Reason& reason, Instant at) {
        return {reason, blocker::kConfiguration, at};
    }
    // Makes a refusal that is lifted at the reason's `a`, in seconds since the Epoch; 0: never.
    static Refusal until_named(const Reason& reason) {
        return until_instant(reason, reason.a == 0 ? Instant::max() : Instant(Seconds(reason.a)));
    }
    static Refusal for_less_of(const Reason& reason, const UseKey& key) {
        return {reason, blocker::less_of(key)};
    }
    static Refusal for_good(const Reason& reason) { return {reason, blocker::kConfiguration}; }
};

// Returns the largest job that all views of the key's queue let pass, by of_view(view) of each. A view is the
// queue, or the queue on one host. nullopt: the use isn't that of a queue, or a view has no such limit.
template <class OfView>
std::optional<JobSize> left_by_views(const CycleState& state, const UseKey& key, OfView of_view) {
    if (key.scope != UseScope::queue) return std::nullopt;
    std::optional<JobSize> most;
    for (const QueueView& view : *state.views) {
        if (view.slot != key.object) continue;
        const std::optional<JobSize> left = of_view(view);
        if (!left) return std::nullopt;
        most = most ? most_of(*most, *left) : *left;
    }
    return most;
}

struct Limit {
    enum class Measure : std::uint8_t {
        jobs,       // the number of running jobs
        nodes,      // the nodes (ssinodes) of running jobs; only with UseScope::view
        amounts,    // each resource that `by_entity` limits
        available,  // each resource of resources_available; of a view, or of the server
    };
    UseScope scope = UseScope::server;
    EntityKind entity = EntityKind::all;  // counts the jobs of each user, group, project or array separately
    Measure measure = Measure::jobs;
    // The maximum, which is the same for each entity; below 0: there is no limit.
    std::int64_t (*most)(const QueueFacts& facts) = nullptr;
    // Limits that may name entities; set instead of `most`.
    const EntityLimits& (*by_entity)(const QueueFacts& facts) = nullptr;
    // The reason of a refusal; `nothing`: OpenPBS's reason for limits of this scope and entity.
    ReasonCode reason = ReasonCode::nothing;
    // The words of a refusal, in place of those of `reason`; null: none.
    const char* words = nullptr;

    // Return which facts the limit reads besides the queue: only the job's owner, only its group, or its
    // signature with owner and group. At most one is true.
    constexpr bool is_of_owner() const { return entity == EntityKind::user && measure == Measure::jobs; }
    constexpr bool is_of_group() const { return entity == EntityKind::group && measure == Measure::jobs; }
    constexpr bool is_of_signature_and_user() const {
        return (entity == EntityKind::user || entity == EntityKind::group) && measure != Measure::jobs;
    }

    // Returns the refusal of a job in a queue now; an empty reason: the limit lets the job pass.
    Refusal check(const CycleState& state, const JobNeeds& job, const User& user,
                  const QueueView& view) const;
    // For a limit on the jobs of a user or a group. Returns after how many of their starts it refuses a job
    // in the queue; 0: now.
    std::int64_t refuses_after(const CycleState& state, const User& user, const QueueView& view) const;
    // Returns whether the limit isn't set for this queue, during this whole cycle.
    bool is_open(const QueueFacts& facts) const;
    // Returns the largest job that the limit would let pass now, if less use of `key` lifts its refusals;
    // nullopt: there is no such limit.
    std::optional<JobSize> left(const CycleState& state, const UseKey& key) const;
    // Adds the job's needs of the limit in a queue to `needs`.
    void add_needs(const CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                   std::vector<LimitNeed>& needs) const;

    // Makes a row an error at compile time if nothing counts the use that it limits.
    constexpr void assert_can_be_counted() const;

  private:
    using Found = EntityLimits::Found;
    bool is_of_queue() const { return scope == UseScope::queue || scope == UseScope::view; }
    ReasonCode code() const;
    Reason reason_with(const CycleState& state, Reason reason) const;
    // Returns whether the limit doesn't concern the entity: jobs outside of arrays have the array number 0.
    bool spares(std::uint32_t whose) const { return entity == EntityKind::array && whose == 0; }
    UseKey lifted_by(QueueSlot queue, std::uint32_t whose) const;
    LimitKey counter(const QueueView& view, std::uint32_t whose, std::uint32_t what) const;
    Found most_jobs(const QueueFacts& facts, std::uint32_t whose) const;
    std::int64_t running(const CycleState& state, QueueSlot queue, std::uint32_t whose) const;
    Refusal check_jobs(const CycleState& state, std::uint32_t whose, const QueueView& view) const;
    Refusal check_nodes(const CycleState& state, const JobNeeds& job, const QueueView& view) const;
    Refusal check_amounts(const CycleState& state, const JobNeeds& job, std::uint32_t whose,
                          const QueueView& view) const;
    Refusal check_available(const CycleState& state, const JobNeeds& job, const QueueView& view) const;
    std::optional<JobSize> left_in(const CycleState& state, const QueueView& view) const;
    std::optional<JobSize> left_of_amounts(const CycleState& state, const UseKey& key,
                                           const EntityLimits& limits) const;
};

void nobody_counts_that();  // never defined: a call of it doesn't compile

constexpr void Limit::assert_can_be_counted() const {
    using enum Measure;
    const bool of_all = entity == EntityKind::all;
    const bool counted =
        measure == nodes       ? scope == UseScope::view && of_all
        : measure == available ? (scope == UseScope::view || scope == UseScope::server) && of_all
        : scope == UseScope::view || scope == UseScope::dedicated ? of_all && measure == jobs
        : scope == UseScope::queue
            ? by_entity != nullptr || entity == EntityKind::user || entity == EntityKind::group
            : scope == UseScope::server;
    const bool has_most = measure == available || (most != nullptr) != (by_entity != nullptr);
    const bool watched = by_entity != nullptr || (entity != EntityKind::project && measure != amounts);
    if (!counted || !has_most || !watched) nobody_counts_that();
}

}  // namespace pbs::sched
