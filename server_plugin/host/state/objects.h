// The server's objects in memory. Each is a value: a change is made on a copy, stored, and only then put in
// the place of the old object.
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

namespace pbs::host {

// Letters of job_state.
namespace job_state {
inline constexpr char kTransit = 'T';
inline constexpr char kQueued = 'Q';
inline constexpr char kHeld = 'H';
inline constexpr char kWaiting = 'W';
inline constexpr char kRunning = 'R';
inline constexpr char kExiting = 'E';
inline constexpr char kSuspended = 'S';  // shown to users as S; counted as running, as in PBS
inline constexpr char kMoved = 'M';
inline constexpr char kFinished = 'F';
inline constexpr char kBegun = 'B';    // an array of which a subjob has started
inline constexpr char kExpired = 'X';  // a subjob that has ended, until its array has ended; never stored
}  // namespace job_state

// Substates, as PBS numbers them.
namespace substate {
inline constexpr int kTransitIn = 0;
inline constexpr int kTransitOut = 2;        // on its way to another server, which can't have it yet
inline constexpr int kTransitOutCommit = 3;  // on its way to another server, which may have it already
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

// When and where a queued job is expected to start, as the scheduler told it last: never stored.
struct Estimate {
    int64_t start = 0;  // seconds since the Epoch
    std::string exec_vnode;
};

// A job array's knowledge of its subjobs (array.h). Subjobs that run, that have run and wait to run again, or
// that are kept as history are jobs of their own; of all others only this is kept.
struct Subjobs {
    IndexRange submitted;
    IndexSet queued;  // the subjobs that may start
    // Numbers of subjobs that are jobs, by state.
    int64_t running = 0;  // includes suspended ones
    int64_t exiting = 0;
    int64_t waiting = 0;  // held, or waiting for their time
};

struct Job {
    uint64_t handle = 0;
    uint64_t told = 0;      // the handle by which the plugin knows it (array.h); 0: the same as `handle`
    uint64_t sequence = 0;  // the number in the id, or a number of its own (job_name.h)
    std::string id;         // "12.server", "12[].server", "12[7].server"
    // Only advance() writes state, substate, at_end and deleted (job_state.h).
    char state = job_state::kTransit;
    int substate = substate::kTransitIn;
    uint64_t queue = 0;
    SharedText queue_name{};
    int64_t queue_rank = 0;
    // Instants in seconds since the Epoch; 0: not reached yet.
    int64_t ctime = 0;
    int64_t qtime = 0;
    int64_t etime = 0;
    int64_t stime = 0;
    int64_t mtime = 0;
    int64_t obittime = 0;
    // The places of a finished run, kept for the history.
    SharedText exec_vnode{};
    SharedText exec_host{};
    // The places that a running job holds.
    std::vector<Place> places;
    // The end of its run: requeue after a request to rerun it, finish otherwise.
    enum class AtEnd : uint8_t { finish, requeue } at_end = AtEnd::finish;
    bool deleted = false;  // by request: the job ends as "deleted"
    // Names of the resources in Resource_List that the server set by default: another queue may have other
    // defaults.
    SharedText defaulted{};  // "ncpus,place", in the order of the alphabet
    Attributes attributes;
    // An array's subjobs. A change puts a new object in the place of this one.
    std::shared_ptr<const Subjobs> subjobs;
    // A subjob's place: the number of its array, and its index.
    uint64_t array = 0;
    int64_t index = 0;
    // The job waits on another server, which is asked for it when it could run here (peers.h). Such a job
    // isn't in the state.
    bool elsewhere = false;

    // Gives back spare memory, and shares texts with other jobs.
    void shrink(SharedTexts& texts);
    // How many attributes to keep room for besides those that it has: a job that waits will get a comment.
    size_t spare_attributes() const;

    bool is_defaulted(std::string_view resource) const;
    void set_defaulted(std::string_view resource, bool defaulted);

    bool is_array() const { return subjobs != nullptr; }
    bool is_subjob() const { return array != 0; }
    // Is it on its way to another server (deliveries.h)?
    bool is_leaving() const {
        return state == job_state::kTransit &&
               (substate == substate::kTransitOut || substate == substate::kTransitOutCommit);
    }
    // Did another server hand it in, whatever its id is? Then only that server vouches for its owner.
    bool handed_in() const { return attributes.has("foreign_id"); }
    // The number in its id.
    uint64_t number() const;
    uint64_t told_as() const { return told != 0 ? told : handle; }
    // Has a subjob of the array started?
    bool begun() const { return is_array() && stime != 0; }
    bool running() const {
        return state == job_state::kRunning || state == job_state::kExiting || state == job_state::kSuspended;
    }
    bool history() const { return state == job_state::kFinished || state == job_state::kMoved; }
    // The owner without the host.
    std::string_view owner() const;
    std::string_view owner_host() const;
    std::string_view hold_types() const;  // "n" when not held
};

// Sets an attribute that has a row in the table of jobs; a name that has none is passed over.
void set_attribute(Job& job, std::string_view name, std::string_view value);
void unset_attribute(Job& job, std::string_view name);

// Is an id that another server gave fit to be shown, logged and used in names of files: a number, a dot, and
// letters, digits, '-', '_' and '.'?
bool is_legal_foreign_id(std::string_view id);

// The value of a variable in the job's Variable_List; empty if it isn't there.
std::string environment_value(const Job& job, std::string_view name);

// Jobs by state, in the order in which PBS lists them in state_count.
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

// reserve_state and reserve_substate, as PBS numbers them.
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

// An advance reservation. Its attributes hold all that is stored of it.
struct Reservation {
    uint64_t handle = 0;
    std::string id;  // "R12.server"
    Attributes attributes;
    std::vector<Place> places{};  // the places that it has: its resv_nodes
    // A standing reservation's times after the current one (occurrences.h). They follow from attributes
    // too.
    struct Occurrence {
        int64_t start = 0;
        int64_t end = 0;
        std::vector<Place> places{};
        bool asked = false;  // the scheduler is to decide about it, if about the reservation
    };
    std::vector<Occurrence> later{};
    std::vector<uint64_t> later_nodes{};  // handles of the vnodes of all later occurrences, ascending
    bool keeps_first = false;             // only later occurrences are to be decided about

    int state() const { return static_cast<int>(attributes.integer("reserve_state", 0)); }
    int64_t start() const { return attributes.integer("reserve_start", 0); }
    int64_t end() const { return attributes.integer("reserve_end", 0); }
    std::string_view queue_name() const { return attributes.text("queue"); }
    std::string_view owner() const;  // without host
    std::string_view owner_host() const;
    // Is the scheduler to decide about it, as new or with other times?
    bool is_asked() const {
        return state() == reservation_state::kUnconfirmed || state() == reservation_state::kBeingAltered;
    }
    // Does it end for good, once its last job has gone?
    bool is_ending() const {
        return state() == reservation_state::kBeingDeleted ||
               (state() == reservation_state::kDeletingJobs && later.empty());
    }
    // Is an occurrence over, with the next one to come once the last job of this one has gone?
    bool is_between() const { return state() == reservation_state::kDeletingJobs && !later.empty(); }
};

// Sets an attribute, which has to have a row in the table of reservations.
void set_attribute(Reservation& reservation, std::string_view name, std::string_view value);
void unset_attribute(Reservation& reservation, std::string_view name);

enum NodeState : uint32_t { node_free = 0, node_offline = 1, node_down = 2, node_stale = 4 };
// How many vnodes have each combination of the bits of NodeState.
using NodeCounts = std::array<int64_t, 8>;
// The words of a combination that isn't node_free: "down,offline".
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

// The usage of a node, a queue or the server by running jobs; worked out from the jobs, never stored.
struct Usage {
    Amounts assigned;
    std::set<uint64_t> jobs;  // handles of running jobs
};

}  // namespace pbs::host
