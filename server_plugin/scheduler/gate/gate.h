// A gate: one test that a job has to pass before it starts in a queue.
//
// To add one: write gate/<name>.cc with a `const Gate <name>_gate`, and put it into the list of gates.cc,
// whose order is the order of the tests (origin-facts, "Tests before a job starts"). Say in `blockers` what
// could lift a refusal, or nothing: then the jobs that it refuses are looked at in every cycle.
#pragma once

#include <span>
#include <vector>

#include "server_plugin/scheduler/blockers.h"
#include "server_plugin/scheduler/cycle_state.h"
#include "server_plugin/scheduler/job_size.h"

namespace pbs::sched {

enum GateTrait : unsigned {
    // The job doesn't fit the queue at all: another queue's reason becomes the comment, and if no queue is
    // left the job is rejected (origin).
    tells_fit = 1,
    // The queue isn't for this owner: as above, but the job isn't rejected for it.
    tells_access = 2,
    // A job that starts may lift the refusal of another one: answers don't outlast a start.
    lifted_by_start = 4,
    // Is about prime time: an early start of non-prime time does away with it.
    about_prime = 8,
    // Refuses for want of something that running jobs will give back.
    waits_for_jobs = 16,
    // Looks for room on vnodes.
    looks_for_room = 32,
    // Is about what there is: also asked about a job that an operator starts.
    about_room = 64,
};

// What of a job's user a gate reads.
enum ReadsUser : unsigned {
    reads_owner = 1,
    reads_group = 2,
    // Something else of the job as well. A gate without it reads nothing but the owner, the group, how many
    // jobs of theirs run, and how the queue and the server are set up.
    reads_job_too = 4,
};

struct Gate {
    const char* name;
    const char* attributes;  // that switch it on, for people; "": always on
    unsigned traits;
    // Does the policy switch it on at this instant?
    bool (*wanted)(const Settings& settings, Instant now);
    // Nothing, or why the job can't start in the queue now.
    Reason (*check)(CycleState& state, const Candidate& job, QueueView& queue);
    // Of a refusal: what could lift it, beside a change of the configuration. Null: the instant that `until`
    // tells, else anything.
    Blockers (*blockers)(const CycleState& state, const Candidate& job, const QueueView& queue,
                         const Reason& reason) = nullptr;
    // What of the user the answer depends on, as the queue and the server are set up: ReadsUser, 0 if it is
    // the same for all. Null: always 0.
    unsigned (*reads_user)(const CycleState& state, const QueueView& queue) = nullptr;
    // Does it let every job into this queue, in this whole cycle? Then it isn't asked. May read nothing but
    // how the queue and the server are set up, and of the QueueView what GateOpening has. Null: never.
    bool (*is_open)(const CycleState& state, const QueueView& queue) = nullptr;
    // Of a gate about time, which it refused now for `reason`: the first instant after now at which its
    // answer may be another, Instant::max() if that isn't known. Null: its answers don't depend on the time.
    Instant (*until)(CycleState& state, const Candidate& job, const QueueView& queue,
                     const Reason& reason) = nullptr;
    // Of each gate whose refusals are blocked by less_of(key), for that key: the most that a job may ask for
    // which it lets through now; nothing: there is no such limit. Null: none.
    std::optional<JobSize> (*leaves)(const CycleState& state, const UseKey& key) = nullptr;
};

// What could lift a refusal by a gate, once its instant is noted.
Blockers blockers_of(const Gate& gate, CycleState& state, const Candidate& job, const QueueView& queue,
                     const Reason& reason);

// The instant that a reason names as `a`, in seconds since the Epoch; 0: never.
inline Instant named_instant(CycleState&, const Candidate&, const QueueView&, const Reason& reason) {
    return reason.a == 0 ? Instant::max() : Instant(Seconds(reason.a));
}

// A test of a job by itself: who fails it is rejected, unless the reason is one of those that aren't.
struct JobGate {
    const char* name;
    const char* attributes;
    bool (*wanted)(const Settings& settings, Instant now);
    Reason (*check)(const CycleState& state, const Candidate& job);
    unsigned reads_user = 0;  // ReadsUser, and nothing of the job then
    Blockers blockers = blocker::anything;
};
std::span<const JobGate* const> all_job_gates();
std::vector<const JobGate*> job_gates_of(const Settings& settings, Instant now);

// All gates, in the order of the tests.
std::span<const Gate* const> all_gates();

inline unsigned user_reads(const Gate& gate, const CycleState& state, const QueueView& queue) {
    return gate.reads_user == nullptr ? 0 : gate.reads_user(state, queue);
}

// Those that a policy switches on at an instant.
std::vector<const Gate*> gates_of(const Settings& settings, Instant now);
// Makes `gates` what gates_of() gives. False: that is what it was.
bool renew_gates(const Settings& settings, Instant now, std::vector<const Gate*>& gates);

// What of a QueueView changes with time, or with what a command tells, and may open a gate.
struct GateOpening {
    bool window = true;
    bool dedicated_time = false;
    bool dedicated_awaited = false;
    static GateOpening of(const QueueView& view) {
        return {view.open, view.dedicated_time.has_value(), view.dedicated_awaited};
    }
    friend bool operator==(const GateOpening&, const GateOpening&) = default;
};

// Why a job of this queue can't start now for the queue's execution_type; also asked of the queue that a job
// is started from.
Reason execution_type_reason(const CycleState& state, QueueSlot queue);

// Blockers that several gates have.
inline Blockers by_configuration(const CycleState&, const Candidate&, const QueueView&, const Reason&) {
    return blocker::configuration;
}
inline Blockers by_queue_use(const CycleState&, const Candidate&, const QueueView& view, const Reason&) {
    return blocker::less_of({UseKey::Kind::queue, view.slot, 0});
}
inline Blockers by_server_use(const CycleState&, const Candidate&, const QueueView&, const Reason&) {
    return blocker::less_of({UseKey::Kind::server, 0, 0});
}

// What a queue leaves, where each of its views leaves what `of_view` says.
template <class OfView>
std::optional<JobSize> left_by_views(const CycleState& state, const UseKey& key, OfView of_view) {
    if (key.kind != UseKey::Kind::queue) return std::nullopt;
    std::optional<JobSize> most;
    for (const QueueView& view : *state.views) {
        if (view.slot != key.object) continue;
        const std::optional<JobSize> left = of_view(view);
        if (!left) return std::nullopt;
        most = most ? most_of(*most, *left) : *left;
    }
    return most;
}

inline bool always(const Settings&, Instant) {
    return true;
}
inline bool origin_only(const Settings& s, Instant) {
    return s.algorithm == Algorithm::origin;
}

}  // namespace pbs::sched
