#include "server_plugin/host/state/job_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"

namespace pbs::host {
namespace {

// The states, as bits, so that a row of the table can name several.
using States = std::uint32_t;
constexpr States kArrives = 1U << 0;
constexpr States kQueued = 1U << 1;
constexpr States kHeld = 1U << 2;
constexpr States kDepends = 1U << 3;
constexpr States kWaits = 1U << 4;
constexpr States kBegun = 1U << 5;
constexpr States kStarted = 1U << 6;
constexpr States kAwaits = 1U << 7;  // started, and has the attribute `awaits`
constexpr States kRuns = 1U << 8;
constexpr States kResumes = 1U << 9;
constexpr States kSuspended = 1U << 10;
constexpr States kPreempted = 1U << 11;
constexpr States kExits = 1U << 12;
constexpr States kTerminated = 1U << 13;
constexpr States kFinished = 1U << 14;
constexpr States kFailed = 1U << 15;
constexpr States kLeaves = 1U << 16;
constexpr States kMayHaveLeft = 1U << 17;
constexpr States kMoved = 1U << 18;

constexpr States kInQueue = kQueued | kHeld | kDepends | kWaits;
constexpr States kRunning = kStarted | kAwaits | kRuns | kResumes | kSuspended | kPreempted;
constexpr States kLeaving = kLeaves | kMayHaveLeft;
constexpr States kHistory = kTerminated | kFinished | kFailed | kMoved;
constexpr States kLive = kArrives | kInQueue | kBegun | kRunning | kExits | kLeaving;

// Special values in the table for the next state. kSame: the state stays. kSettled: settle() computes it from
// holds, Execution_Time and subjobs.
constexpr States kSame = 0;
constexpr States kSettled = ~States{0};

struct Letters {
    States state;
    char letter;
    int substate;
};
constexpr std::array kLetters{Letters{kArrives, job_state::kTransit, substate::kTransitIn},
                              Letters{kQueued, job_state::kQueued, substate::kQueued},
                              Letters{kHeld, job_state::kHeld, substate::kHeld},
                              Letters{kDepends, job_state::kHeld, substate::kHeldByDepend},
                              Letters{kWaits, job_state::kWaiting, substate::kWaiting},
                              Letters{kBegun, job_state::kBegun, substate::kBegun},
                              Letters{kStarted, job_state::kRunning, substate::kPrerun},
                              Letters{kAwaits, job_state::kRunning, substate::kPrerun},
                              Letters{kRuns, job_state::kRunning, substate::kRunning},
                              Letters{kResumes, job_state::kRunning, substate::kSchedSuspended},
                              Letters{kSuspended, job_state::kSuspended, substate::kSuspended},
                              Letters{kPreempted, job_state::kSuspended, substate::kSchedSuspended},
                              Letters{kExits, job_state::kExiting, substate::kExiting},
                              Letters{kTerminated, job_state::kFinished, substate::kTerminated},
                              Letters{kFinished, job_state::kFinished, substate::kFinished},
                              Letters{kFailed, job_state::kFinished, substate::kFailed},
                              Letters{kLeaves, job_state::kTransit, substate::kTransitOut},
                              Letters{kMayHaveLeft, job_state::kTransit, substate::kTransitOutCommit},
                              Letters{kMoved, job_state::kMoved, substate::kMoved}};

// Returns the state of a job by its letter and substate; 0: there is no state with these two.
States state_of(const Job& job) {
    const auto found = std::ranges::find_if(kLetters, [&](const Letters& one) {
        return one.letter == job.state && one.substate == job.substate;
    });
    if (found == kLetters.end()) return 0;
    return found->state == kStarted && is_awaiting(job) ? kAwaits : found->state;
}

struct Transition {
    JobEvent event;
    States from;
    States to;
};
constexpr std::array kTransitions{
    Transition{JobEvent::settled, kArrives | kInQueue | kBegun, kSettled},
    Transition{JobEvent::settled, kRunning | kExits | kLeaving | kHistory, kSame},
    Transition{JobEvent::depends, kArrives | kInQueue | kBegun, kSettled},
    Transition{JobEvent::depends_no_more, kArrives | kInQueue | kBegun, kSettled},
    Transition{JobEvent::began, kInQueue | kBegun, kSame},
    Transition{JobEvent::made_subjob, kInQueue | kBegun, kQueued},
    Transition{JobEvent::started, kArrives | kInQueue, kStarted},
    Transition{JobEvent::awaits, kStarted, kAwaits},
    Transition{JobEvent::awaits, kPreempted, kResumes},
    Transition{JobEvent::launched, kAwaits, kStarted},
    Transition{JobEvent::not_launched, kAwaits, kStarted},
    Transition{JobEvent::not_launched, kResumes, kPreempted},
    Transition{JobEvent::running, kStarted | kRuns, kRuns},
    Transition{JobEvent::suspended, kStarted | kRuns, kSuspended},
    Transition{JobEvent::resumed, kSuspended, kRuns},
    Transition{JobEvent::preempting, kRunning | kExits, kSame},
    Transition{JobEvent::preempted, kRuns, kPreempted},
    Transition{JobEvent::not_preempted, kRunning | kExits, kSame},
    Transition{JobEvent::unpreempted, kPreempted | kResumes, kRuns},
    Transition{JobEvent::to_be_requeued, kRunning, kSame},
    Transition{JobEvent::to_be_ended, kRunning | kExits, kSame},
    Transition{JobEvent::deleted, kArrives | kInQueue | kBegun | kLeaving, kSame},
    Transition{JobEvent::deleted, kRunning | kExits, kExits},
    Transition{JobEvent::requeued, kRunning | kExits, kSettled},
    Transition{JobEvent::terminated, kLive, kTerminated},
    Transition{JobEvent::finished, kLive, kFinished},
    Transition{JobEvent::failed, kLive, kFailed},
    Transition{JobEvent::leaves, kInQueue, kLeaves},
    Transition{JobEvent::commit_sent, kLeaves, kMayHaveLeft},
    Transition{JobEvent::returned, kLeaving, kSettled},
    Transition{JobEvent::moved, kLeaving, kMoved},
};

const Transition* find(const Job& job, JobEvent event) {
    const States state = state_of(job);
    const auto row = std::ranges::find_if(
        kTransitions, [&](const Transition& one) { return one.event == event && (one.from & state) != 0; });
    return row == kTransitions.end() ? nullptr : row;
}

// Writes the letter and the substate of a state.
void set_state(Job& job, States state) {
    const auto row = std::ranges::find(kLetters, state, &Letters::state);
    job.state = row->letter;
    job.substate = row->substate;
}

// Makes the job queued, held or waiting (Q, H, W), or leaves an array that has begun at B; sets etime and the
// comment accordingly. A job becomes eligible when it is queued in an execution queue.
void settle(Job& job, const State& state, int64_t now) {
    const char before = job.state;
    if (job.hold_types() != "n") {
        set_state(job, job.substate == substate::kHeldByDepend ? kDepends : kHeld);
        job.etime = 0;
    } else if (job.attributes.integer("Execution_Time", 0) > now) {
        set_state(job, kWaits);
        job.etime = 0;
    } else {
        const Queue* queue = state.queue(job.queue);
        set_state(job, job.begun() ? kBegun : kQueued);
        if (job.etime == 0 && queue != nullptr && queue->execution()) job.etime = now;
    }
    comment_on_state(job, before);
}

// Begins a new run: removes the attributes that an earlier run has left.
void start(Job& job, int64_t now) {
    job.stime = now;
    job.obittime = 0;
    job.at_end = Job::AtEnd::finish;
    job.deleted = false;
    set_attribute(job, "run_count", std::to_string(job.attributes.integer("run_count", 0) + 1));
    for (const char* name : {"Exit_status", "resources_used", "session_id", "sched_preempted"})
        unset_attribute(job, name);
    forget_preemption(job);
}

// Ends the run of a job that will run again. For a preempted job, notes the instant since which it waits.
void requeue(Job& job, int64_t now) {
    const bool preempted = is_preempting(job);
    unset_attribute(job, "session_id");
    unset_attribute(job, preemption::kSchedPreempted);
    if (preempted) set_attribute(job, preemption::kSchedPreempted, std::to_string(now));
    forget_preemption(job);
    job.places.clear();
    job.exec_vnode = {};
    job.exec_host = {};
    job.stime = 0;
    job.at_end = Job::AtEnd::finish;
    job.deleted = false;
    set_state(job, kQueued);
}

// Makes the event's changes other than the next state. `before`: the state before the event.
void change_rest(Job& job, JobEvent event, States before, int64_t now, std::string_view text) {
    switch (event) {
        case JobEvent::depends:
            job.substate = substate::kHeldByDepend;
            return;
        case JobEvent::depends_no_more:
            job.substate = substate::kHeld;
            return;
        case JobEvent::settled:
        case JobEvent::running:
        case JobEvent::commit_sent:
            return;
        case JobEvent::began:
            job.stime = now;
            return;
        case JobEvent::made_subjob:
            job.stime = job.obittime = 0;
            return;
        case JobEvent::started:
            return start(job, now);
        case JobEvent::awaits:
            return set_attribute(job, preemption::kAwaits, text);
        case JobEvent::launched:
            job.stime = now;
            return unset_attribute(job, preemption::kAwaits);
        case JobEvent::not_launched:
            return unset_attribute(job, preemption::kAwaits);
        case JobEvent::suspended:
        case JobEvent::resumed:
            return note_suspension(job, event == JobEvent::suspended, now);
        case JobEvent::preempting:
            return set_attribute(job, preemption::kPreempting, text);
        case JobEvent::preempted:
            set_attribute(job, preemption::kSchedPreempted, std::to_string(now));
            if (!text.empty()) set_attribute(job, preemption::kReleased, text);
            return unset_attribute(job, preemption::kPreempting);
        case JobEvent::not_preempted:
            unset_attribute(job, preemption::kPreempting);
            return set_attribute(job, preemption::kNotPreemptable, "True");
        case JobEvent::unpreempted:
            add_suspended(job, job.attributes.integer(preemption::kSchedPreempted, now), now);
            for (const char* name : {preemption::kSchedPreempted, preemption::kReleased, preemption::kAwaits})
                unset_attribute(job, name);
            return;
        case JobEvent::to_be_requeued:
            job.at_end = Job::AtEnd::requeue;
            return;
        case JobEvent::to_be_ended:
            job.at_end = Job::AtEnd::finish;
            return;
        case JobEvent::deleted:
            job.deleted = true;
            job.at_end = Job::AtEnd::finish;
            // A job that was to be resumed isn't resumed any more: without `awaits` its stopped processes are
            // ended at once.
            if (before == kResumes) unset_attribute(job, preemption::kAwaits);
            return;
        case JobEvent::requeued:
            return requeue(job, now);
        case JobEvent::leaves:
            return set_attribute(job, "leaves_for", text);
        case JobEvent::returned:
            set_state(job, kQueued);
            return unset_attribute(job, "leaves_for");
        case JobEvent::terminated:
        case JobEvent::finished:
        case JobEvent::failed:
        case JobEvent::moved:
            job.at_end = Job::AtEnd::finish;
            job.places.clear();
            return set_attribute(job, "history_timestamp", std::to_string(now));
    }
}

bool has_any(const Job& job, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return job.attributes.has(name); });
}

std::optional<std::string_view> broken_in_waiting(const Job& job) {
    if (!job.places.empty()) return "a job that waits has no places";
    if (job.deleted && !job.is_array()) return "a job that waits isn't deleted";
    if (has_any(job, {preemption::kPreempting, preemption::kAwaits, preemption::kNotPreemptable,
                      preemption::kSuspendedFor, preemption::kSuspendedAt, preemption::kReleased}))
        return "nothing of a preemption is under way with a job that waits";
    if (job.state != job_state::kQueued && job.etime != 0) return "a job that isn't queued has no etime";
    return std::nullopt;
}

std::optional<std::string_view> broken_in_running(const Job& job, States state) {
    if (job.stime == 0) return "a job that runs has begun";
    if (job.attributes.integer("run_count", 0) == 0) return "a job that runs has a run_count";
    if (state == kResumes && !is_awaiting(job)) return "R/45 waits for others to make room";
    if (is_awaiting(job) && (state & (kAwaits | kResumes | kExits)) == 0)
        return "R/41 and R/45 alone wait for others to make room";
    if (state == kSuspended && !job.attributes.has(preemption::kSuspendedAt)) return "S/43 says since when";
    if (state == kPreempted && !job.attributes.has(preemption::kSchedPreempted))
        return "S/45 says since when";
    if (state == kPreempted && is_preempting(job)) return "S/45 makes no room any more";
    if (state == kExits && (!job.deleted || job.at_end != Job::AtEnd::finish))
        return "E/50 is deleted, and isn't queued again";
    return std::nullopt;
}

}  // namespace

bool may_happen(const Job& job, JobEvent event) {
    return find(job, event) != nullptr;
}

void advance(Job& job, JobEvent event, const State& state, int64_t now, std::string_view text) {
    const Transition* row = find(job, event);
    assert(row != nullptr);
    if (row == nullptr) return;
    const States before = state_of(job);
    if (row->to != kSame && row->to != kSettled) set_state(job, row->to);
    change_rest(job, event, before, now, text);
    if (row->to == kSettled) settle(job, state, now);
    if (event != JobEvent::settled && event != JobEvent::running) job.mtime = now;
}

JobEvent end_of(const Job& job) {
    if (job.deleted) return JobEvent::terminated;
    return job.attributes.integer("Exit_status", 0) == 0 ? JobEvent::finished : JobEvent::failed;
}

std::optional<std::string_view> broken_invariant(const Job& job) {
    const States state = state_of(job);
    if (state == 0) return "the letter and the substate belong together";
    if (job.at_end != Job::AtEnd::finish && !job.running())
        return "only a job that runs is to be queued again";
    if (job.history() && !job.places.empty()) return "a job in the history has no places";
    if (job.running()) return broken_in_running(job, state);
    return (state & kInQueue) != 0 ? broken_in_waiting(job) : std::nullopt;
}

}  // namespace pbs::host
