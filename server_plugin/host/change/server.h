// The class Server: the server without its network. It has the state, the parts that store and carry out the
// state's changes, and pending work.
//
// The folder change/ has the code that changes the state. A Change (change.h) is one transaction on the
// server: it changes copies of objects; commit() stores them, puts them in place, reports them to the
// plugin, and runs the actions left for afterwards. Submissions of one turn of the loop share a commit
// (commit_group.h). Changes of many objects are made aside and put in place at once (batch.h). After a crash,
// reconcile.h makes the plugin's history and the server agree. For example, a queue is stopped by
//   Change change(server, server.now());
//   change.queue(*server.state.queue("q")).attributes.set(*queue_table().find("started"), {}, "False");
//   auto done = change.commit();
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "server_plugin/client/registrations.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/change/commit_group.h"
#include "server_plugin/host/change/counters.h"
#include "server_plugin/host/run/runner.h"
#include "server_plugin/host/state/identity.h"
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
    Plugin* plugin = nullptr;  // null in some tests of single requests
    // Updates an array after changes of its subjobs (life/array_life.h). Each commit calls it.
    void (*follow_subjobs)(Change&, uint64_t array, const std::vector<SubjobStep>&) = nullptr;
};

struct ServerOptions {
    std::string home;  // absolute
    std::string undelivered;
    std::string starter;  // the user who runs the server; he counts as a manager
    uint16_t port = 0;
    std::string program = "/proc/self/exe";        // run to write messages (message.h) and backups
    std::chrono::milliseconds message_time{5000};  // the longest time for writing a message
};

// The objects that have changed since a cycle began, without the changes that the cycle itself decided.
struct ChangedSince {
    std::unordered_set<uint64_t> jobs;
    std::unordered_set<uint64_t> nodes;  // includes vnodes on which jobs were started
    bool configuration = false;          // the plugin's objects, or those that managers set up, have changed

    bool anything() const { return configuration || !jobs.empty() || !nodes.empty(); }
};

// The progress of the pass over the jobs of route queues (routing.h).
struct RoutePass {
    std::string queue{};  // the pass is over the queues before this one, and this one's jobs up to `job`
    uint64_t job = 0;
    // The jobs that every destination refused, with the time of that offer.
    std::unordered_map<uint64_t, int64_t> offered{};
    std::size_t next_look = 1024;  // when `offered` has this size, jobs that are gone are removed from it
};

// A running program that writes a job's checkpoint.
struct Checkpoint {
    pid_t pid = 0;
    std::chrono::steady_clock::time_point until;
    std::function<void(const Result<void>&)> done;
};

// The words for a qsub -I whose job has ended without having run (block_answer.h).
struct UntoldReason {
    uint16_t port = 0;
    std::string owner;  // the job's owner, who has to listen at the port
    std::string text;
};

class Server {
  public:
    Server(State initial, ServerParts parts, ServerOptions options);

    State state;
    ServerParts parts;
    ServerOptions options;
    Counters counters;
    int64_t started = 0;  // instant of the server's start, by its clock, in seconds since the Epoch

    int64_t now() const;  // by the server's clock, seconds since the Epoch

    // The identity under which the server makes changes of its own. It may do everything.
    Identity identity() const;

    // Makes the server object at the first start, and the `default` scheduler if it is missing.
    Result<void> make_first_objects();
    // Reports all objects to the plugin, and then starts it.
    Result<void> start_plugin();

    // Asks for a scheduling cycle; the loop runs it (cycle.h). An empty name means every scheduler. If there
    // are several triggers, the cycle gets the most important one: a policy switch, else a change of
    // configuration, else any other. If there is no memory for the name, all schedulers get a cycle.
    void want_cycle(int trigger, std::string_view sched = {}) noexcept;
    std::map<std::string, int, std::less<>> take_wanted_cycles();
    static int more_telling(int trigger, int other);
    bool cycles_wanted() const { return wanted_of_all_ != 0 || !wanted_.empty(); }
    bool cycle_wanted(std::string_view sched) const {
        return wanted_of_all_ != 0 || wanted_.find(sched) != wanted_.end();
    }

    // True while a cycle waits until the plugin has finished a request. No other request may begin in the
    // plugin before that cycle.
    bool cycle_waits = false;
    // The changes since the present cycle began; nullopt: no cycle is under way.
    std::optional<ChangedSince> changed;

    // The number of requests that wait for the end of the present cycle to ask the plugin something, such as
    // for a place for a job. The next cycle begins after they have asked.
    std::size_t placing = 0;

    Batch* open_batch = nullptr;  // the present change of many objects (batch.h)
    Batch* batch = nullptr;       // open_batch, while Batch::run() has exchanged the tables; else null

    CommitGroup commit_group{*this};  // submissions that share a commit

    client::Registrations registrations;  // programs that schedule

    RecentUsers recent_users;  // the owners of jobs that are being queued or started

    std::vector<Checkpoint> checkpoints;  // checkpoints that are being written (checkpoint.h)
    std::size_t message_writers = 0;      // processes that write messages now (message.h)
    bool backing_up = false;              // a backup is being made for a manager (requests/backup.h)
    // Killed child processes that still have to be waited for. A process may end late, if it waits for a
    // disk.
    std::vector<pid_t> killed_children;
    void reap();  // waits for those of killed_children that have ended

    // The jobs that other servers are handing in (arrival.h): their ids in lower case, with the number of the
    // latest hand-in of each.
    std::map<std::string, uint64_t> arriving;
    uint64_t last_arrival = 0;
    // The code for other servers; null in tests of single requests.
    Peers* peers = nullptr;
    Deliveries* deliveries = nullptr;

    RoutePass route_pass;
    uint64_t purged_up_to = 0;  // purge_history() has looked at the finished jobs up to this handle

    uint64_t last_ticket = 0;  // the last ticket that a request got (Context::ticket)
    int64_t last_rank = 0;     // the largest queue_rank given to a job
    // The runs whose ends are committed but may not be on the disk yet (ended_runs.h). ends_on_their_way: a
    // thread is writing the ends of earlier runs to the disk.
    std::vector<RunId> ended_runs;
    bool ends_on_their_way = false;
    std::vector<RunReport> unstored_reports;  // the runner's reports that are not in the database yet
    std::vector<RunReport> new_reports;       // those that are not in unstored_reports yet
    // The handles (Job::handle) of waiting jobs whose last start has failed for a reason that may pass, or
    // that of the array of such a subjob. The cycles put them aside (cycle.h).
    std::vector<uint64_t> failed_starts;

    // True after a Shutdown request or a signal: the server's loop ends.
    bool stopping = false;
    // If it isn't `no`, the server accepts and starts no more jobs, and stops when no job runs any more.
    enum class Closing { no, delayed, immediate } closing = Closing::no;
    bool winding_down() const { return stopping || closing != Closing::no; }
    std::string state_text() const;  // value of the attribute server_state

    // Keeps the reason why a job has ended without having run, until its qsub is told (block_answer.h).
    void keep_end_reason(uint64_t sequence, std::string reason) {
        end_reasons_[sequence] = std::move(reason);
    }
    std::string take_end_reason(uint64_t sequence) {
        auto kept = end_reasons_.extract(sequence);
        return kept ? std::move(kept.mapped()) : std::string();
    }

    // The reasons that tell_untold_reasons() sends.
    std::deque<UntoldReason> untold_reasons;

  private:
    int wanted_of_all_ = 0;  // trigger of a cycle of all schedulers; 0: none is wanted
    std::map<std::string, int, std::less<>> wanted_;  // trigger by scheduler
    std::map<uint64_t, std::string> end_reasons_;     // by sequence number of the job
};

// Returns the number for the next job or reservation. After the numbers have wrapped, skips numbers in use.
uint64_t next_sequence(const Server& server);

}  // namespace pbs::host
