// The policy plugin, as the server sees it: pbs_policy.so behind the C interface of pbs_plugin.h.
//
// Only the room policy/ reaches the interface, by server_plugin/client/. Plugin is told of each object as it
// is (records are made in plugin_records.h), asked for cycles, and asked for the state of its own objects
// when clients want it. None of its functions waits for the scheduler, except finish_cycle():
//   plugin.tell(now, job, state);
//   if (auto on_its_way = plugin.start_cycle(now, "default", PBS_SCH_SCHEDULE_NEW)) ...
//   auto decisions = plugin.finish_cycle(now);  // once client::Options::cycle_finished was called
#pragma once

#include <cstdint>
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
class RecordBuilder;

using client::is_plugin_type;
using cluster::Decision;

// A queue of another server whose jobs are pulled into a queue of this one.
struct PeerQueue {
    std::string here;
    std::string there;
    std::string server;
};

// A change as the plugin's history has it (to_json).
struct ChangeText {
    std::string before;
    std::string after;
};

// The server's own changes for a Manager request, for the plugin's history.
struct HostRecord {
    std::string_view text{};  // the request as one would type it in qmgr
    std::span<const ConfigChange> changes{};
    std::span<const ChangeText>
        texts{};  // the texts of `changes`, in their order; empty: they are made from `changes`
};

// The client of the interface, and what the host's own objects add to it.
class Plugin : public client::Plugin {
  public:
    // Loads and initialises; `options` without its log and what the host takes of decisions. The error's
    // message names the file and the reason.
    static Result<std::unique_ptr<Plugin>> load(client::Options options, Log& log);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // A Manager request's part that is the plugin's. A warning is added to `warning`.
    Result<void> manager(int64_t now, int command, int object_type, std::string_view name,
                         const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                         std::string& warning, const HostRecord& record = {}, uint64_t ticket = 0);
    // Adds the plugin's attributes of a server's object to `attributes`.
    void status_attributes(int64_t now, int object_type, std::string_view name, ifl::Attributes& attributes);

    // Appends to `warning` a line for each of these attributes, being set on a queue of this partition, that
    // has no effect under the policy in force.
    void not_acted_on(int64_t now, std::string_view queue, std::string_view partition,
                      const ifl::Attributes& attributes, std::string& warning);

    // The peer queues of the policy in force for a scheduler.
    std::vector<PeerQueue> peer_queues(int64_t now, std::string_view sched) const;

    // Events: each tells the plugin of an object's change.
    void resource_defined(const Resource& resource);
    void server_changed(const State& state);
    void sched_changed(const Sched& sched, const State& state);
    void queue_changed(const Queue& queue, const State& state);
    void node_changed(const Node& node, const State& state);
    // Sets what node_changed() tells from now on.
    void set_machine_load(const MachineLoad& load) { load_ = load; }
    void job_changed(int64_t now, const Job& job, const State& state);
    // Tells that the job changed or was removed: a job in the history is no job to the plugin, nor is a
    // subjob that doesn't run.
    void tell(int64_t now, const Job& job, const State& state);
    // A reservation that is on its way out, or has no places: the plugin knows only that its queue
    // is one of a reservation.
    void reservation_changed(const Reservation& reservation, const State& state);

    // Does what is due. Returns the schedulers that want a cycle for it, with its trigger (PBS_SCH_*).
    std::map<std::string, int> tick(int64_t now, const State& state);
    // As client::Plugin::place_job(): the last decision.
    Result<Decision> place_job(int64_t now, uint64_t job, const State& state);

  private:
    Plugin();
    RecordBuilder& records_of(const State& state);

    std::unique_ptr<RecordBuilder> records_;
    MachineLoad load_;
};

}  // namespace pbs::host
