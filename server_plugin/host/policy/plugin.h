// The policy plugin, as the server sees it: pbs_policy.so behind the C interface of pbs_plugin.h.
//
// Only the room policy/ reaches the interface, by server_plugin/client/. Plugin is told of each object as it
// is (records are made in plugin_records.h), asked for cycles, and asked what clients want to know of its own
// objects. Nothing of it waits for the scheduler, except finish_cycle():
//   plugin.tell(now, job, state);
//   if (auto on_its_way = plugin.start_cycle(now, "default", PBS_SCH_SCHEDULE_NEW)) ...
//   auto decisions = plugin.finish_cycle(now);  // once PluginOptions::cycle_finished was called
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/client/plugin.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/machine_load.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/identity.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class Log;

using client::is_plugin_type;
using cluster::Decision;

// A queue of another server whose jobs are pulled into one of this server's.
struct PeerQueue {
    std::string here;
    std::string there;
    std::string server;
};

// The decisions of a cycle, in the plugin's memory: valid until the next start_cycle() or stop().
class Decisions : public client::Decisions {
  public:
    Decisions() = default;
    explicit Decisions(const client::Decisions& decisions) : client::Decisions(decisions) {}
    Decision at(size_t i, const State& state) const;
};

struct PluginOptions {
    std::string path;  // of the shared object
    std::string home;
    std::string server_name;
    std::string time_zone;  // empty: the system's
    int64_t now = 0;
    // As those of client::Options.
    std::function<void()> cycle_finished{};
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

    std::string_view name() const { return client_.name(); }
    std::string_view version() const { return client_.version(); }

    // The error's code is PBSE_SYSTEM where the plugin's own database is what can't be used.
    Result<void> start(int64_t now) { return client_.start(now); }
    void stop(int64_t now) { client_.stop(now); }

    bool owns(int object_type, std::string_view attribute) const {
        return client_.owns(object_type, attribute);
    }

    // A Manager request's part that is the plugin's, as client::Plugin::manager(). A warning is added to
    // `warning`.
    Result<void> manager(int64_t now, int command, int object_type, std::string_view name,
                         const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                         std::string& warning, const HostRecord& record = {}, uint64_t ticket = 0);
    void abandon(uint64_t ticket) { client_.abandon(ticket); }
    bool busy() const { return client_.busy(); }
    bool uncommitted() const { return client_.uncommitted(); }
    Result<void> commit(int64_t now) { return client_.commit(now); }
    // As those of client::Plugin.
    ifl::Reply status(int64_t now, int object_type, std::string_view name, const ifl::Attributes& wanted,
                      const Identity& who, std::string_view extend, std::string* next = nullptr);
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
    void resource_removed(std::string_view name) { client_.resource_removed(name); }
    void server_changed(const State& state);
    void sched_changed(const Sched& sched, const State& state);
    void sched_removed(std::string_view name) { client_.sched_removed(name); }
    void queue_changed(const Queue& queue, const State& state);
    void queue_removed(uint64_t queue) { client_.queue_removed(queue); }
    void node_changed(const Node& node, const State& state);
    // What node_changed() tells from now on.
    void set_machine_load(const MachineLoad& load) { load_ = load; }
    void node_removed(uint64_t node) { client_.vnode_removed(node); }
    void job_changed(int64_t now, const Job& job, const State& state);
    // One or the other: a job in the history is no job to the plugin, and of subjobs those are that run.
    void tell(int64_t now, const Job& job, const State& state);
    void job_removed(int64_t now, uint64_t job) { client_.job_removed(now, job); }  // Job::told_as()
    // Of one that is on its way out, or has no places, the plugin knows nothing but that its queue is one of
    // a reservation.
    void reservation_changed(const Reservation& reservation, const State& state);
    void reservation_removed(uint64_t reservation) { client_.reservation_removed(reservation); }

    int64_t next_deadline(int64_t now) const { return client_.next_deadline(now); }
    // Does what is due: the schedulers of these names that want a cycle for it, with its trigger (PBS_SCH_*).
    std::map<std::string, int> tick(int64_t now, const State& state);
    // Where a job that isn't running has room now (run), or why nowhere (comment); limits, times and the
    // order don't matter. PBSE_TRYAGAIN: not before finish_cycle().
    Result<Decision> place_job(int64_t now, uint64_t job, const State& state);
    Result<bool> start_cycle(int64_t now, std::string_view sched, int trigger) {
        return client_.start_cycle(now, sched, trigger);
    }
    Result<Decisions> finish_cycle(int64_t now);

  private:
    Plugin() = default;

    client::Plugin client_;
    MachineLoad load_;
};

}  // namespace pbs::host
