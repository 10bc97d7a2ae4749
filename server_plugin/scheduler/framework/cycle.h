// One scheduling cycle: classify, order, and for each admissions, place, decide.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/framework/events_since.h"
#include "server_plugin/scheduler/framework/policy.h"
#include "server_plugin/scheduler/model/decisions.h"
#include "server_plugin/scheduler/state/explanation.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

struct CycleScratch;  // context.h
class SchedShares;    // shares.h

// Memory that a cycle works in, kept for the next one; null before the first. A copy has none.
struct KeptScratch {
    KeptScratch() = default;
    KeptScratch(const KeptScratch&) {}
    KeptScratch(KeptScratch&&) = default;
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    KeptScratch& operator=(const KeptScratch&) { return *this; }
    KeptScratch& operator=(KeptScratch&&) = default;
    ~KeptScratch() = default;
    std::shared_ptr<CycleScratch> scratch;
};

// What one scheduler remembers from cycle to cycle.
struct SchedMemory {
    KeptScratch kept;
    OwnStates own;  // of rules
};

struct CycleInput {
    Tables* tables = nullptr;
    const Configuration* configuration = nullptr;
    Policy* policy = nullptr;  // the one in force
    SchedMemory* memory = nullptr;
    SchedShares* shares = nullptr;  // of its fs_group; null: it has none, or doesn't use it
    EventMemory* events = nullptr;  // null: every job is looked at
    std::uint32_t partition = 0;
    // The partitions that have a scheduler, for the one that tells jobs of other partitions.
    std::optional<std::span<const std::uint32_t>> served;
    Instant now{};
    bool categories = true;
    bool answers_reservations = false;  // reservations that are asked for are decided about
    // For the cycles to come: the order of the pending jobs, and the schedule of the running ones.
    bool keep_pending_jobs = false;
    bool by_events = false;  // only events happened since the last cycle: those that `events` tells
    // The job that is to be explained, and where to; null: none.
    JobSlot explained = kNoSlot;
    Explanation* explanation = nullptr;
};

Decisions run_cycle(const CycleInput& input);

// Goes through a cycle over all jobs without deciding anything: what is made is told how it goes.
struct CycleParts;
class CycleLog;
void rehearse_cycle(const CycleInput& input, std::unique_ptr<CycleLog> (*make)(const CycleParts& parts));

// A place for one job that isn't running, whatever the policy, the order, limits and times say: `run`, in the
// queue that it is in; or `comment`: why there is none now. `preempts`: if the policy preempts, jobs of
// whatever level are preempted where that makes room.
Decisions place_job(const CycleInput& input, JobSlot job, bool preempts);

// The charge of a job that starts, by a policy (SORT_BY_PAST_USAGE); nothing if it keeps no usage.
std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job);

// Whether chunks are divided, by a policy and by what the host knows.
Chunks chunks_by(const Tables& tables, const Settings& settings);

}  // namespace pbs::sched
