// The policy plugin, as the server sees it: pbs_policy.so behind the C interface of pbs_plugin.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/reply.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/machine_load.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/identity.h"
#include "server_plugin/host/state/state.h"

struct pbs_cycle_result;

namespace pbs::host {

class Log;

// What a cycle decided about one job, in the server's own terms.
struct Decision {
    // The last two are about a reservation: `job` is its handle.
    enum class Kind {
        run,
        comment,
        reject,
        move,
        estimate,
        preempt,
        accrue,
        confirm,
        deny
    } kind = Kind::comment;
    uint64_t job = 0;
    uint64_t queue = 0;  // 0: stays where it is
    std::string text;
    std::vector<std::pair<uint32_t, std::string>> set_resources;  // Resource::id, canonical value
    std::vector<Place> places;
    int64_t start = 0;               // estimate: 0: nothing is expected any more
    uint64_t for_job = 0;            // preempt: the job that room is made for
    std::string methods{};           // preempt: letters S, C, R, D
    bool after_preemptions = false;  // run
    int accrue_type = 0;             // accrue
};

// A queue of another server whose jobs are pulled into one of this server's.
struct PeerQueue {
    std::string here;
    std::string there;
    std::string server;
};

// Is it a type of objects that the plugin alone keeps? Changes of them are durable after Plugin::commit().
bool is_plugin_type(uint32_t object_type);

// What a cycle decided, in the plugin's memory: good until the next start_cycle() or stop().
class Decisions {
  public:
    Decisions() = default;
    explicit Decisions(const pbs_cycle_result& result);
    size_t size() const { return count_; }
    int64_t considered() const { return considered_; }  // jobs
    // Which kinds of events the scheduler's log has: bits of LogEvent. -1: as before, nothing was decided.
    int64_t log_event() const { return log_event_; }
    Decision at(size_t i, const State& state) const;

  private:
    const char* first_ = nullptr;
    size_t count_ = 0;
    size_t stride_ = 0;
    int64_t considered_ = 0;
    int64_t log_event_ = -1;
};

struct PluginOptions {
    std::string path;  // of the shared object
    std::string home;
    std::string server_name;
    std::string time_zone;  // empty: the system's
    int64_t now = 0;
    // Called from a thread of the plugin's when the cycle that start_cycle() left running is over, until the
    // plugin is stopped. Empty: cycles are over when start_cycle() returns.
    std::function<void()> cycle_finished{};
    // Called in the same way when the answer to a status request is there. Empty: the plugin keeps the server
    // waiting for it.
    std::function<void()> work_finished{};
};

// A change as the plugin's history has it (to_json).
struct ChangeText {
    std::string before;
    std::string after;
};

// What the server itself changes on a Manager request, for the plugin's history.
struct HostRecord {
    std::string_view text{};  // the request as one would type it in qmgr
    std::span<const ConfigChange> changes{};
    std::span<const ChangeText> texts{};  // the changes', in their order; none: they are made
};

class Plugin {
  public:
    // Loads and initialises. The error's message names the file and the reason.
    static Result<std::unique_ptr<Plugin>> load(const PluginOptions& options, Log& log);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    std::string_view name() const;
    std::string_view version() const;

    // The error's code is PBSE_SYSTEM where the plugin's own database is what can't be used.
    Result<void> start(int64_t now);
    void stop(int64_t now);

    bool owns(int object_type, std::string_view attribute) const;

    // A Manager request's part that is the plugin's. Errors are in the result; a warning is added to
    // `warning`. A change of the plugin's own objects isn't durable before commit().
    //
    // With a ticket (0: none), a number that no other request has, it may be PBSE_TRYAGAIN: nothing has
    // changed so far, and the same is to be asked again in some milliseconds, or given up by abandon().
    Result<void> manager(int64_t now, int command, int object_type, std::string_view name,
                         const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                         std::string& warning, const HostRecord& record = {}, uint64_t ticket = 0);
    void abandon(uint64_t ticket);
    // Is a ticket's request under way, so that manager() without one would be PBSE_OBJBUSY?
    bool busy() const;
    bool takes_tickets() const;
    // Must commit() follow? So it is after a Manager request for an object of the plugin's own.
    bool uncommitted() const;
    // Makes durable what manager() did since the last commit. On an error nothing of it has changed, and no
    // client may have been told that it has.
    Result<void> commit(int64_t now);
    // `next`: where `extend` asks for a page, what the next one is after; empty: there is none.
    ifl::Reply status(int64_t now, int object_type, std::string_view name, const ifl::Attributes& wanted,
                      const Identity& who, std::string_view extend, std::string* next = nullptr);
    // The same a part at a time, each no more than keeps nobody waiting. The result is the extend string that
    // the next part is asked for with; empty: there is none. With a ticket as for manager() it may be
    // PBSE_TRYAGAIN.
    Result<std::string> status_part(int64_t now, int object_type, std::string_view name,
                                    const ifl::Attributes& wanted, const Identity& who,
                                    std::string_view extend, uint64_t ticket, ifl::StatusParts& out);
    // Adds the plugin's attributes of a server's object to `attributes`.
    void status_attributes(int64_t now, int object_type, std::string_view name, ifl::Attributes& attributes);

    // Adds a line to `warning` for each of these attributes, which are being set on a queue of this
    // partition, that the policy in force doesn't act on.
    void not_acted_on(int64_t now, std::string_view queue, std::string_view partition,
                      const ifl::Attributes& attributes, std::string& warning);

    // Those of the policy in force for a scheduler.
    std::vector<PeerQueue> peer_queues(int64_t now, std::string_view sched) const;

    // Events.
    void resource_defined(const Resource& resource);
    void resource_removed(std::string_view name);
    void server_changed(const State& state);
    void sched_changed(const Sched& sched, const State& state);
    void sched_removed(std::string_view name);
    void queue_changed(const Queue& queue, const State& state);
    void queue_removed(uint64_t queue);
    void node_changed(const Node& node, const State& state);
    // What node_changed() tells from now on.
    void set_machine_load(const MachineLoad& load);
    void node_removed(uint64_t node);
    void job_changed(int64_t now, const Job& job, const State& state);
    // One or the other: a job in the history is no job to the plugin, and of subjobs those are that run.
    void tell(int64_t now, const Job& job, const State& state);
    void job_removed(int64_t now, uint64_t job);  // Job::told_as()
    // Of one that is on its way out, or has no places, the plugin knows nothing but that its queue is one of
    // a reservation.
    void reservation_changed(const Reservation& reservation, const State& state);
    void reservation_removed(uint64_t reservation);

    int64_t next_deadline(int64_t now);
    // Does what is due: the schedulers of these names that want a cycle for it, with its trigger (PBS_SCH_*).
    std::map<std::string, int> tick(int64_t now, const State& state);
    // Where a job that isn't running has room now (run), or why nowhere (comment); limits, times and the
    // order don't matter. PBSE_TRYAGAIN: not before finish_cycle(). PBSE_NOSUP: the plugin can't tell.
    Result<Decision> place_job(int64_t now, uint64_t job, const State& state);
    // Begins a cycle. True: it goes on in a thread of the plugin's, and PluginOptions::cycle_finished is
    // called. False: it is over. PBSE_TRYAGAIN: not before PluginOptions::work_finished is called.
    Result<bool> start_cycle(int64_t now, std::string_view sched, int trigger);
    // To be called once after each start_cycle() without an error. Waits for the cycle if it still runs.
    Result<Decisions> finish_cycle(int64_t now);

  private:
    class Impl;
    explicit Plugin(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
