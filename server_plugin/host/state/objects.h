// The server's objects in memory: jobs, queues, reservations, vnodes, schedulers. Each is a value: a change
// modifies a copy, stores it, and only then replaces the object.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/place.h"
#include "server_plugin/host/state/array_indices.h"
#include "server_plugin/host/state/attributes.h"
#include "values/tables.h"

namespace pbs::host {

// Letters of job_state.
namespace job_state {
inline constexpr char kTransit = 'T';
inline constexpr char kQueued = 'Q';
inline constexpr char kHeld = 'H';
inline constexpr char kWaiting = 'W';
inline constexpr char kRunning = 'R';
inline constexpr char kExiting = 'E';
inline constexpr char kSuspended = 'S';  // shown to users as S; counts as running, as in PBS
inline constexpr char kMoved = 'M';
inline constexpr char kFinished = 'F';
inline constexpr char kBegun = 'B';    // an array that has begun: a subjob has started
inline constexpr char kExpired = 'X';  // an ended subjob of an unfinished array; never stored
}  // namespace job_state

// Substates, as PBS numbers them.
namespace substate {
inline constexpr int kTransitIn = 0;
inline constexpr int kTransitOut = 2;        // leaves for another server, which can't have it yet
inline constexpr int kTransitOutCommit = 3;  // leaves for another server, which may have it already
inline constexpr int kQueued = 10;
inline constexpr int kHeld = 20;
inline constexpr int kHeldByDepend = 22;
inline constexpr int kWaiting = 30;
inline constexpr int kPrerun = 41;
inline constexpr int kRunning = 42;
inline constexpr int kSuspended = 43;
inline constexpr int kSchedSuspended = 45;  // preempted by suspension
inline constexpr int kExiting = 50;
inline constexpr int kBegun = 70;
inline constexpr int kTerminated = 91;
inline constexpr int kFinished = 92;
inline constexpr int kFailed = 93;
inline constexpr int kMoved = 94;
}  // namespace substate

using cluster::Amounts;
using cluster::Place;

// The expected start and places of a queued job, by the scheduler's last estimate; never stored.
struct Estimate {
    int64_t start = 0;  // seconds since the Epoch
    std::string exec_vnode;
};

// Handles of jobs: 9 bytes for each if they come in ascending order, as they mostly do.
using Handles = values::BtreeSet<uint64_t>;

// An array's data about its subjobs (array.h). Subjobs that run, wait to run again or are in the history are
// jobs of their own. The other subjobs are known only by these sets of indices.
struct Subjobs {
    IndexRange submitted;
    IndexSet queued;  // the subjobs that may start
    // The numbers of subjobs that are jobs of their own, by their states.
    int64_t running = 0;  // includes suspended ones
    int64_t exiting = 0;
    int64_t waiting = 0;  // held, or waiting for their time
};

struct Job {
    uint64_t handle = 0;
    uint64_t told = 0;      // the handle by which the plugin knows the job (array.h); 0: `handle`
    uint64_t sequence = 0;  // the number in the id, or an arbitrary one (job_name.h)
    std::string id;         // "12.server", "12[].server", "12[7].server"
    // Only advance() writes state, substate, at_end and deleted (job_state.h).
    int substate = substate::kTransitIn;
    char state = job_state::kTransit;
    // The consequence of the run's end: `requeue` after a request to rerun the job, else `finish`.
    enum class AtEnd : uint8_t { finish, requeue } at_end = AtEnd::finish;
    bool deleted = false;  // a request has deleted it; it ends as terminated
    // True for a job of another server, from which it is pulled when it can run here (peers.h). Such a job
    // isn't in the State.
    bool elsewhere = false;
    uint64_t queue = 0;
    SharedText queue_name{};
    int64_t queue_rank = 0;
    // These instants are in seconds since the Epoch; 0: not reached yet.
    int64_t ctime = 0;
    int64_t qtime = 0;
    int64_t etime = 0;
    int64_t stime = 0;
    int64_t mtime = 0;
    int64_t obittime = 0;
    // The places of a finished run, for the history.
    SharedText exec_vnode{};
    SharedText exec_host{};
    // The places that a running job holds.
    std::vector<Place> places;
    // Names of the resources in Resource_List whose values are defaults. In a queue with other defaults these
    // resources get other values.
    SharedText defaulted{};  // "ncpus,place", sorted
    Attributes attributes;
    // Set for an array only: its subjobs. The object isn't changed in place: each change makes a new one.
    std::shared_ptr<const Subjobs> subjobs;
    // Set for a subjob only: the number of its array, and its index.
    uint64_t array = 0;
    int64_t index = 0;

    // Frees unused memory, and makes equal texts of several jobs share memory.
    void shrink(SharedTexts& texts);
    // Returns the number of further attributes to reserve memory for: 1 for a waiting job, which will get a
    // comment.
    size_t spare_attributes() const;

    bool is_defaulted(std::string_view resource) const;
    void set_defaulted(std::string_view resource, bool defaulted);

    bool is_array() const { return subjobs != nullptr; }
    bool is_subjob() const { return array != 0; }
    // Returns whether the job is leaving for another server (deliveries.h).
    bool is_leaving() const {
        return state == job_state::kTransit &&
               (substate == substate::kTransitOut || substate == substate::kTransitOutCommit);
    }
    // Returns whether another server handed in the job. Only that server has checked who the owner is. The
    // job's id may be that of any server.
    bool handed_in() const { return attributes.has("foreign_id"); }
    // Returns the number in the job's id.
    uint64_t number() const;
    uint64_t told_as() const { return told != 0 ? told : handle; }
    // Returns whether a subjob of the array has started.
    bool begun() const { return is_array() && stime != 0; }
    // Returns whether the job can have an Estimate.
    bool expects_start() const { return state == job_state::kQueued || state == job_state::kBegun; }
    bool running() const {
        return state == job_state::kRunning || state == job_state::kExiting || state == job_state::kSuspended;
    }
    bool history() const { return state == job_state::kFinished || state == job_state::kMoved; }
    // Returns the owner without the host.
    std::string_view owner() const;
    std::string_view owner_host() const;
    std::string_view hold_types() const;  // "n" when not held
};

// Sets an attribute of the table of jobs. Does nothing if the table doesn't have the name.
void set_attribute(Job& job, std::string_view name, std::string_view value);
void unset_attribute(Job& job, std::string_view name);

// Returns whether another server's job id may be shown, logged and used in names of files: it has to be a
// number, a dot, and letters, digits, '-', '_' and '.'.
bool is_legal_foreign_id(std::string_view id);

// Returns the value of a variable in the job's Variable_List; empty: not set.
std::string environment_value(const Job& job, std::string_view name);

// The number of jobs in each state, in the order of PBS's state_count.
struct StateCounts {
    static constexpr std::string_view kLetters = "TQHWREB";
    std::array<int64_t, kLetters.size()> counts{};
    void add(char state, int64_t by);
    int64_t total() const;
    int64_t running() const;
    std::string text() const;  // "Transit:0 Queued:1 ..."
};

struct Queue {
    uint64_t handle = 0;
    std::string name;
    Attributes attributes;

    bool execution() const { return attributes.text("queue_type") == "Execution"; }
    bool route() const { return attributes.text("queue_type") == "Route"; }
    bool started() const { return attributes.boolean("started", false); }
    bool enabled() const { return attributes.boolean("enabled", false); }
};

// reserve_state and reserve_substate, with PBS's numbers.
namespace reservation_state {
inline constexpr int kUnconfirmed = 1;
inline constexpr int kConfirmed = 2;
inline constexpr int kRunning = 5;
inline constexpr int kBeingDeleted = 7;
inline constexpr int kDeletingJobs = 9;
inline constexpr int kDegraded = 10;
inline constexpr int kBeingAltered = 11;
inline constexpr int kInConflict =
    12;  // a substate: a reservation of whole hosts has taken some of its vnodes
}  // namespace reservation_state

// An advance or standing reservation. Only its attributes are stored; the other members are computed from
// them.
struct Reservation {
    uint64_t handle = 0;
    std::string id;  // "R12.server"
    Attributes attributes;
    std::vector<Place> places{};  // its present places, as in resv_nodes
    // The occurrences of a standing reservation after the current one (occurrences.h).
    struct Occurrence {
        int64_t start = 0;
        int64_t end = 0;
        std::vector<Place> places{};
        // True if the scheduler's next decision about the reservation has to include this occurrence.
        bool asked = false;
    };
    std::vector<Occurrence> later{};
    std::vector<uint64_t> later_nodes{};  // handles of the vnodes of all later occurrences, ascending
    bool keeps_first = false;             // the scheduler is to decide about later occurrences only

    int state() const { return static_cast<int>(attributes.integer("reserve_state", 0)); }
    int64_t start() const { return attributes.integer("reserve_start", 0); }
    int64_t end() const { return attributes.integer("reserve_end", 0); }
    std::string_view queue_name() const { return attributes.text("queue"); }
    std::string_view owner() const;  // without host
    std::string_view owner_host() const;
    // Returns whether the scheduler is to decide about the reservation, as a new one or with other times.
    bool is_asked() const {
        return state() == reservation_state::kUnconfirmed || state() == reservation_state::kBeingAltered;
    }
    // Returns whether the reservation will be removed when its last job is gone.
    bool is_ending() const {
        return state() == reservation_state::kBeingDeleted ||
               (state() == reservation_state::kDeletingJobs && later.empty());
    }
    // Returns whether the current occurrence is over, and the next one follows when the last job of the
    // current one is gone.
    bool is_between() const { return state() == reservation_state::kDeletingJobs && !later.empty(); }
};

// Sets an attribute. REQUIRES: the table of reservations has the name.
void set_attribute(Reservation& reservation, std::string_view name, std::string_view value);
void unset_attribute(Reservation& reservation, std::string_view name);

// Sets an attribute of a job or a reservation that doesn't have it.
template <class Object>
void set_if_missing(Object& object, std::string_view name, std::string_view value) {
    if (!object.attributes.has(name)) set_attribute(object, name, value);
}

enum NodeState : uint32_t { node_free = 0, node_offline = 1, node_down = 2, node_stale = 4 };
// The number of vnodes in each combination of the bits of NodeState.
using NodeCounts = std::array<int64_t, 8>;
// Returns the words for a combination of bits other than node_free: "down,offline".
std::string node_state_words(uint32_t state);

struct Node {
    uint64_t handle = 0;
    std::string name;
    uint32_t state = node_free;  // bits of NodeState
    int64_t last_state_change = 0;
    Attributes attributes;
};

struct Sched {
    uint64_t handle = 0;
    std::string name;
    Attributes attributes;
};

// The resources that running jobs use on a node, in a queue or on the server. They are computed from the
// jobs, and never stored.
struct Usage {
    Amounts assigned;
    Handles jobs;  // handles of running jobs
};

}  // namespace pbs::host
