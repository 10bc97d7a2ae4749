// The server apart from its network: the state, the parts that store it and carry it out, and the work that
// is pending.
//
// The room change/ is how the state changes. Server has the parts; a Change (change.h) is one transaction on
// them: copies of objects are changed, commit() stores them, puts them in place, tells the plugin, and does
// what was left for afterwards. Submissions of one turn of the loop share a commit (commit_group.h), changes
// of many objects are made aside and put in place at once (batch.h), and reconcile.h brings the plugin's
// history and the server together again after a crash. For example, a queue is stopped by
//   Change change(server, server.now());
//   change.queue(*server.state.queue("q")).attributes.set(*queue_table().find("started"), {}, "False");
//   auto done = change.commit();
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/change/commit_group.h"
#include "server_plugin/host/change/counters.h"
#include "server_plugin/host/run/runner.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class Accounting;
class Batch;
class Change;
class Clock;
class Deliveries;
class Executor;
class Log;
class Mailer;
class Peers;
class Plugin;
class Store;
struct SubjobStep;

struct ServerParts {
    Store& store;
    Log& log;
    Accounting& accounting;
    Mailer& mailer;
    Executor& executor;
    Clock& clock;
    Plugin* plugin = nullptr;  // tests of single requests may do without
    // Updates an array after steps of its subjobs; each commit calls it (life/array_life.h).
    void (*follow_subjobs)(Change&, uint64_t array, const std::vector<SubjobStep>&) = nullptr;
};

struct ServerOptions {
    std::string home;     // absolute
    std::string scripts;  // the folder where a script is put for the runner: HOME/server_priv/jobs
    std::string undelivered;
    std::string starter;  // the user who runs the server: a manager
    uint16_t port = 0;
    std::string program = "/proc/self/exe";        // run as a writer of messages (message.h) and of backups
    std::chrono::milliseconds message_time{5000};  // the time that a writer of messages may take
};

// The changes since a cycle's start, other than those that it decided.
struct ChangedSince {
    std::unordered_set<uint64_t> jobs;
    std::unordered_set<uint64_t> nodes;  // includes those that jobs were started on
    bool configuration = false;          // of the plugin, server, queues, nodes, schedulers or resources

    bool anything() const { return configuration || !jobs.empty() || !nodes.empty(); }
};

// The position of the pass over the jobs of route queues (routing.h).
struct RoutePass {
    std::string
        queue{};  // the jobs of queues before this one, and this one's up to `job`, have had their turn
    uint64_t job = 0;
    std::unordered_map<uint64_t, int64_t> offered{};  // jobs that no destination took: time of the offer
    std::size_t next_look = 1024;  // at this size of `offered`, jobs that have gone are removed from it
};

// A program that writes a checkpoint.
struct Checkpoint {
    pid_t pid = 0;
    std::chrono::steady_clock::time_point until;
    std::function<void(const Result<void>&)> done;
};

class Server {
  public:
    Server(State initial, ServerParts parts, ServerOptions options);

    State state;
    ServerParts parts;
    ServerOptions options;
    Counters counters;
    int64_t started = 0;  // by the server's clock, seconds since the Epoch

    int64_t now() const;  // by the server's clock, seconds since the Epoch

    // Makes the server object and the `default` scheduler at the first start; later adds what is new in this
    // version.
    Result<void> make_first_objects();
    // Tells the plugin of everything, then starts it.
    Result<void> start_plugin();

    // Asks for a scheduling cycle; the loop runs it (cycle.h). An empty name means every scheduler. Of
    // several triggers the more telling one wins: a policy switch, then a change of configuration.
    void want_cycle(int trigger, std::string_view sched = {});
    std::map<std::string, int, std::less<>> take_wanted_cycles();
    static int more_telling(int trigger, int other);
    bool cycles_wanted() const { return !wanted_.empty(); }
    bool cycle_wanted(std::string_view sched) const {
        return wanted_.find("") != wanted_.end() || wanted_.find(sched) != wanted_.end();
    }

    // A cycle waits until the plugin has finished a request; no other request may begin in the plugin before
    // that cycle.
    bool cycle_waits = false;
    // The changes since the cycle under way began; nullopt: no cycle is.
    std::optional<ChangedSince> changed;

    // How many requests wait for the end of a cycle to ask the plugin something, such as where a job has
    // room. The next cycle begins when they have asked.
    std::size_t placing = 0;

    Batch* open_batch = nullptr;  // the one change of many objects under way (batch.h)
    Batch* batch = nullptr;       // the same, while Batch::run() has its tables in place of the state's

    CommitGroup commit_group{*this};  // submissions that come at the same time

    RecentUsers recent_users;  // the users of jobs that are being queued

    std::vector<Checkpoint> checkpoints;  // checkpoints that are being written (checkpoint.h)
    std::size_t message_writers = 0;      // processes that write messages now (message.h)
    bool backing_up = false;              // a backup is being made for a manager (requests/backup.h)
    // Killed processes that have to be waited for; they may end late, when their disk lets them.
    std::vector<pid_t> killed_children;
    void reap();  // waits for those of killed_children that have ended

    // Jobs that other servers are handing in, each with the number of its last hand-in, by id in lower case
    // (arrival.h).
    std::map<std::string, uint64_t> arriving;
    uint64_t last_arrival = 0;
    // The parts for other servers; tests of single requests do without.
    Peers* peers = nullptr;
    Deliveries* deliveries = nullptr;

    RoutePass route_pass;

    uint64_t last_ticket = 0;  // the last ticket given to a request (Context::ticket)
    int64_t last_rank = 0;     // the largest queue_rank given
    // Runs whose ends are committed and may not be on the disk yet (ended_runs.h); and whether a thread is
    // bringing others to it.
    std::vector<RunId> ended_runs;
    bool ends_on_their_way = false;
    std::vector<RunReport> unstored_reports;  // the runner's reports that are not in the database yet

    // A Shutdown request or a signal sets it: the server's loop ends.
    bool stopping = false;
    // Not `no`: the server takes and starts no job any more, and stops when no job runs.
    enum class Closing { no, delayed, immediate } closing = Closing::no;
    bool winding_down() const { return stopping || closing != Closing::no; }
    std::string state_text() const;  // server_state

  private:
    std::map<std::string, int, std::less<>> wanted_;  // trigger by scheduler
};

// The number of the next job or reservation. After the numbers wrap, those in use are passed over.
uint64_t next_sequence(const Server& server);

}  // namespace pbs::host
