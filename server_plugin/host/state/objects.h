// The server's objects in memory. Each is a value: a change is made on a copy, stored, and only then put in
// place.
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

// job_state letters.
namespace job_state {
inline constexpr char kTransit = 'T';
inline constexpr char kQueued = 'Q';
inline constexpr char kHeld = 'H';
inline constexpr char kWaiting = 'W';
inline constexpr char kRunning = 'R';
inline constexpr char kExiting = 'E';
inline constexpr char kSuspended = 'S';  // shown so; counted as running, as in PBS
inline constexpr char kMoved = 'M';
inline constexpr char kFinished = 'F';
inline constexpr char kBegun = 'B';    // an array of which a subjob has started
inline constexpr char kExpired = 'X';  // a subjob that has ended, until its array has; never stored
}  // namespace job_state

// Substates, as PBS numbers them.
namespace substate {
inline constexpr int kTransitIn = 0;
inline constexpr int kTransitOut = 2;        // on its way to another server, which hasn't got it yet
inline constexpr int kTransitOutCommit = 3;  // which may have got it
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

// What a job array knows of its subjobs (array.h). Those that run, or have run and wait to run again, or are
// kept as history, are jobs of their own; all that there is of the others is in here.
struct Subjobs {
    IndexRange submitted;
    IndexSet queued;  // those that may start
    // How many are jobs in these states.
    int64_t running = 0;  // suspended ones too
    int64_t exiting = 0;
    int64_t waiting = 0;  // held, or waiting for their time
};

struct Job {
    uint64_t handle = 0;
    uint64_t told = 0;      // the handle that the plugin knows it by (array.h); 0: the same
    uint64_t sequence = 0;  // the number in the id, or another one (job_name.h)
    std::string id;         // "12.server", "12[].server", "12[7].server"
    // These two, at_end and deleted are written by advance() alone (job_state.h).
    char state = job_state::kTransit;
    int substate = substate::kTransitIn;
    uint64_t queue = 0;
    SharedText queue_name{};
    int64_t queue_rank = 0;
    // Instants, seconds since the Epoch; 0: not yet.
    int64_t ctime = 0;
    int64_t qtime = 0;
    int64_t etime = 0;
    int64_t stime = 0;
    int64_t mtime = 0;
    int64_t obittime = 0;
    // After a finished run: where it ran, kept for the history.
    SharedText exec_vnode{};
    SharedText exec_host{};
    // Held while it runs.
    std::vector<Place> places;
    // A delete or rerun was asked while it runs: what to do when it has ended.
    enum class AtEnd : uint8_t { finish, requeue } at_end = AtEnd::finish;
    bool deleted = false;  // by request: its end is "deleted"
    // Names of the resources in Resource_List that the server set: another queue may set others.
    SharedText defaulted{};  // "ncpus,place", in the order of the alphabet
    Attributes attributes;
    // Of an array. A change puts another one in its place.
    std::shared_ptr<const Subjobs> subjobs;
    // Of a subjob: its array, by its number.
    uint64_t array = 0;
    int64_t index = 0;
    // It waits on another server, which is asked for it when it could run here (peers.h): no job of the
    // state.
    bool elsewhere = false;

    // Gives back spare memory, and shares texts with others.
    void shrink(SharedTexts& texts);
    // How many attributes there is to be room for besides those that it has: a comment comes to a job that
    // waits.
    size_t spare_attributes() const;

    bool is_defaulted(std::string_view resource) const;
    void set_defaulted(std::string_view resource, bool defaulted);

    bool is_array() const { return subjobs != nullptr; }
    bool is_subjob() const { return array != 0; }
    // On its way to another server (deliveries.h).
    bool is_leaving() const {
        return state == job_state::kTransit &&
               (substate == substate::kTransitOut || substate == substate::kTransitOutCommit);
    }
    // Handed in by another server, whatever its id is: what is said of its owner is that server's word.
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
    // Without host.
    std::string_view owner() const;
    std::string_view owner_host() const;
    std::string_view hold_types() const;  // "n" when not held
};

// Sets an attribute that has a row in the table of jobs; a name that has none is passed over.
void set_attribute(Job& job, std::string_view name, std::string_view value);
void unset_attribute(Job& job, std::string_view name);

// An id that another server gave, as this one may show, log and name files by it: a number, a dot, and
// letters, digits, '-', '_' and '.'.
bool is_legal_foreign_id(std::string_view id);

// The parts of a job's Variable_List; empty if it isn't there.
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
inline constexpr int kInConflict = 12;  // a substate: a reservation of whole hosts has taken vnodes of it
}  // namespace reservation_state

// An advance reservation. All that is stored of it is in its attributes.
struct Reservation {
    uint64_t handle = 0;
    std::string id;  // "R12.server"
    Attributes attributes;
    std::vector<Place> places{};  // that it has: its resv_nodes
    // Of a standing reservation: the times after this one (occurrences.h). They follow from attributes too.
    struct Occurrence {
        int64_t start = 0;
        int64_t end = 0;
        std::vector<Place> places{};
        bool asked = false;  // it is to be decided about, if the reservation is
    };
    std::vector<Occurrence> later{};
    std::vector<uint64_t> later_nodes{};  // handles of the vnodes of all of them, ascending
    bool keeps_first = false;             // only later ones are to be decided about

    int state() const { return static_cast<int>(attributes.integer("reserve_state", 0)); }
    int64_t start() const { return attributes.integer("reserve_start", 0); }
    int64_t end() const { return attributes.integer("reserve_end", 0); }
    std::string_view queue_name() const { return attributes.text("queue"); }
    std::string_view owner() const;  // without host
    std::string_view owner_host() const;
    // Is it to be decided about, as new or with other times?
    bool is_asked() const {
        return state() == reservation_state::kUnconfirmed || state() == reservation_state::kBeingAltered;
    }
    // Is it on its way out, once its last job has gone?
    bool is_ending() const {
        return state() == reservation_state::kBeingDeleted ||
               (state() == reservation_state::kDeletingJobs && later.empty());
    }
    // Is an occurrence over, and the next one comes once the last job that ran in it has gone?
    bool is_between() const { return state() == reservation_state::kDeletingJobs && !later.empty(); }
};

// Sets an attribute, which has to have a row in the table of reservations.
void set_attribute(Reservation& reservation, std::string_view name, std::string_view value);
void unset_attribute(Reservation& reservation, std::string_view name);

enum NodeState : uint32_t { node_free = 0, node_offline = 1, node_down = 2, node_stale = 4 };
// How many vnodes have each combination of these bits.
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

// What running jobs use of a node, a queue or the server; worked out from the jobs, never stored.
struct Usage {
    Amounts assigned;
    std::set<uint64_t> jobs;  // handles of running jobs
};

}  // namespace pbs::host
