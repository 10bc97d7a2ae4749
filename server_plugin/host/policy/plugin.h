// The class Plugin: the policy plugin pbs_policy.so, behind the C interface of pbs_plugin.h.
//
// Only the folder policy/ uses the C interface, by server_plugin/client/. The server reports each changed
// object to Plugin (plugin_records.h makes the records). It asks Plugin for scheduling cycles, and for the
// state of the plugin's own objects when clients ask. None of Plugin's functions waits for the scheduler,
// except finish_cycle():
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
#include <unordered_set>
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

// The values of an object before and after a change, as texts of the plugin's history (to_json).
struct ChangeText {
    std::string before;
    std::string after;
};

// The changes of the server's own objects on a Manager request, for the plugin's history.
struct HostRecord {
    std::string_view text{};  // the request as one would type it in qmgr
    std::span<const ConfigChange> changes{};
    std::span<const ChangeText>
        texts{};  // the texts of `changes`, in the same order; empty: they are made from `changes`
};

// Calls the plugin's C interface, for the bundled server's objects.
class Plugin : public client::Plugin {
  public:
    // Loads and initialises the plugin. Replaces log, pulls, takes and takes_of_place_job in `options`.
    // Errors name the file and the reason.
    static Result<std::unique_ptr<Plugin>> load(client::Options options, Log& log);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Carries out the plugin's part of a Manager request. May add a text to `warning`.
    Result<void> manager(int64_t now, int command, int object_type, std::string_view name,
                         const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                         std::string& warning, const HostRecord& record = {}, uint64_t ticket = 0);
    // Adds the attributes that the plugin itself has for an object of the server to `attributes`.
    void status_attributes(int64_t now, int object_type, std::string_view name, ifl::Attributes& attributes);

    // Checks attributes that are set on a queue of this partition. For each attribute that has no effect
    // under the policy in force, adds a line to `warning`.
    void not_acted_on(int64_t now, std::string_view queue, std::string_view partition,
                      const ifl::Attributes& attributes, std::string& warning);

    // Returns the peer queues of the policy in force for a scheduler.
    std::vector<PeerQueue> peer_queues(int64_t now, std::string_view sched) const;

    // Each of these functions reports a change of an object to the plugin.
    void resource_defined(const Resource& resource);
    void server_changed(const State& state);
    void sched_changed(const Sched& sched, const State& state);
    void queue_changed(const Queue& queue, const State& state);
    void node_changed(const Node& node, const State& state);
    // Sets the load that node_changed() reports from now on.
    void set_machine_load(const MachineLoad& load) { load_ = load; }
    void job_changed(int64_t now, const Job& job, const State& state);
    // Reports that the job has changed, or that it is gone: to the plugin, jobs in the history and subjobs
    // that don't run don't exist.
    void tell(int64_t now, const Job& job, const State& state);
    // Keeps the plugin from choosing a waiting job, because the server has refused its start, or the start
    // has failed; take_up() lets the plugin choose it again. `job`: the plugin's handle of the job. Does
    // nothing if the job is put aside already.
    void put_aside(int64_t now, uint64_t job, const State& state);
    void take_up(int64_t now, uint64_t job, const State& state);
    // Reports a reservation. If it is about to end or has no places, reports only that its queue is a
    // reservation's.
    void reservation_changed(const Reservation& reservation, const State& state);

    // Does the plugin's work that is due. Returns the schedulers that want a cycle, each with the cycle's
    // trigger (PBS_SCH_*).
    std::map<std::string, int> tick(int64_t now, const State& state);
    // Asks client::Plugin::place_job() for places for the job. Returns its last decision.
    Result<Decision> place_job(int64_t now, uint64_t job, const State& state);
    // Returns the decision of client::Plugin::test_start(). `ticket`: for a request that can wait; 0: it
    // can't.
    Result<Decision> test_start(int64_t now, uint64_t job, const std::vector<Place>& places,
                                const State& state, std::string_view user, uint64_t ticket,
                                std::vector<ifl::ObjectStatus>* explanation = nullptr);

  private:
    Plugin();
    RecordBuilder& records_of(const State& state);

    std::unique_ptr<RecordBuilder> records_;
    MachineLoad load_;
    std::unordered_set<uint64_t> aside_;  // the plugin's handles of the jobs that are put aside
};

}  // namespace pbs::host
