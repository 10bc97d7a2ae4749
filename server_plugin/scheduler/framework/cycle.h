// One scheduling cycle: classifies and orders jobs, tests each by admissions and filters, finds places, and
// decides.
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

// The memory of a cycle that the next one reuses; null before the first. A copy is empty.
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

// One scheduler's memory from cycle to cycle.
struct SchedMemory {
    KeptScratch kept;
    OwnStates own;  // the data of rules
    // Sums over running jobs that rules keep. A copy of the memory shares them: they depend on the jobs
    // alone, so a cycle that changes nothing else may bring them up to date.
    std::shared_ptr<OwnStates> sums = std::make_shared<OwnStates>();
};

struct CycleInput {
    Tables* tables = nullptr;
    const Configuration* configuration = nullptr;
    Policy* policy = nullptr;  // the policy in force
    SchedMemory* memory = nullptr;
    SchedShares* shares = nullptr;  // the tree of the policy's fs_group; null: it has none, or doesn't use it
    EventMemory* events = nullptr;  // null: all jobs are considered
    std::uint32_t partition = 0;
    // The partitions that have a scheduler. Set for the scheduler that comments on jobs of other partitions.
    std::optional<std::span<const std::uint32_t>> served;
    Instant now{};
    bool categories = true;
    bool comments = true;               // decide about comments
    bool answers_reservations = false;  // decide about requested reservations
    // Store the order of the pending jobs and the schedule of the running jobs for later cycles.
    bool keep_pending_jobs = false;
    bool by_events = false;  // nothing but the events in `events` has happened since the last cycle
    // The job to explain, and its explanation; null: none.
    JobSlot explained = kNoSlot;
    Explanation* explanation = nullptr;
    // An operator wants a job started (place_job), so limits don't count.
    bool at_request = false;
    // A start of the explained job alone is tested (test_start), on the vnodes that there are: a larger
    // machine that the policy assumes (fake_machine_mult) doesn't count.
    bool tests_start = false;
};

Decisions run_cycle(const CycleInput& input);

// Goes through a cycle over all jobs without deciding anything, for the log that `make` returns.
struct CycleParts;
class CycleLog;
void rehearse_cycle(const CycleInput& input, std::unique_ptr<CycleLog> (*make)(const CycleParts& parts));

// Finds a place for one job that isn't running. Ignores the order of jobs, limits and times. Decides `run`,
// in the job's queue; or `comment`, with the reason why there is no place now. `preempts`: if the policy
// preempts, jobs of any level may be preempted for the place.
Decisions place_job(const CycleInput& input, JobSlot job, bool preempts);

// Tests whether one job may start at once in its queue: by the admissions and filters of the policy, but
// without regard to other jobs that wait. `places`: where it is to start; empty: at a place that is found.
// Decides `run`, or `comment` with the first reason why it may not. `make`: makes the log that gets the job's
// turn and the end; null: none. Changes nothing.
Decisions test_start(const CycleInput& input, JobSlot job, std::span<const Place> places,
                     std::unique_ptr<CycleLog> (*make)(const CycleParts& parts));

// Returns the charge for a job's start by a policy (SORT_BY_PAST_USAGE); nullopt: the policy counts no past
// usage.
std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job);

// Returns `divided` if the policy and the host permit a chunk in pieces on several vnodes.
Chunks chunks_by(const Tables& tables, const Settings& settings);

}  // namespace pbs::sched
