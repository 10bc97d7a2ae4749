// A host's view of a policy plugin, which is a shared object behind the C interface of pbs_plugin.h.
//
// The host loads the plugin, reports all its objects to it, starts it, and from then on calls it from one
// thread. A cycle may run in a thread of the plugin: start_cycle(), then finish_cycle().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/decision.h"
#include "cluster/identity.h"
#include "cluster/records.h"
#include "ifl/attribute.h"
#include "ifl/error.h"
#include "ifl/reply.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::client {

struct Options {
    std::string path;         // path of the shared object
    std::string home;         // PBS_HOME
    std::string server_name;  // as in job ids
    std::string time_zone{};  // empty: the system's
    std::int64_t now = 0;
    std::int64_t first_change = 0;  // as in struct pbs_host
    // `level`: enum pbs_log_level; `object`: the subject of the line, or empty.
    std::function<void(std::int32_t level, std::string_view object, std::string_view line)> log{};
    // Called from a thread of the plugin when the cycle begun by start_cycle() is over, until the plugin is
    // stopped. Empty: the host calls finish_cycle() at once, which waits.
    std::function<void()> cycle_finished{};
    // Called from a thread of the plugin when the answer to a status request with a ticket is ready. Empty:
    // status requests wait for their answers.
    std::function<void()> work_finished{};
    bool has_pbs_sched = false;  // as in struct pbs_host
    bool pulls = false;          // as in struct pbs_host
    std::uint64_t takes = 0;     // bits of enum pbs_takes, for cycles
    std::uint64_t takes_of_place_job = 0;
};

using cluster::Identity;

struct ManagerRequest {
    int command = 0;                // enum pbs_manager_command
    std::uint32_t object_type = 0;  // PBS_OBJ_*
    std::string object;             // its name
    ifl::Attributes attributes;
    std::string extend{};
    bool check_only = false;
    // 0, or a number that no other request has. With a number, the answer may be PBSE_TRYAGAIN: nothing has
    // changed so far, and the host makes the same call some milliseconds later, or gives the request up by
    // abandon().
    std::uint64_t ticket = 0;
    std::string_view text{};  // the request as one would type it in qmgr
    std::span<const pbs_host_change> changes{};
};

// Does only the plugin have objects of this type? Changes of them are durable after Plugin::commit().
bool is_plugin_type(std::uint32_t object_type);

// The decisions of a cycle, in the plugin's memory: valid until the next start_cycle() or stop().
class Decisions {
  public:
    Decisions() = default;
    explicit Decisions(const pbs_cycle_result& result)
        : list_(result.decisions, result.decision_count),
          considered_(result.jobs_considered),
          log_event_(result.log_event) {}
    std::size_t size() const { return list_.size(); }
    std::int64_t considered() const { return considered_; }  // number of jobs
    // The kinds of events to log, by the policy in force: bits as in the server's log_events. -1: as before,
    // since nothing was decided.
    std::int64_t log_event() const { return log_event_; }
    cluster::Decision at(std::size_t i, const cluster::Names& names) const {
        return cluster::decision_of(list_[i], names);
    }

  private:
    std::span<const pbs_decision> list_;
    std::int64_t considered_ = 0;
    std::int64_t log_event_ = -1;
};

class Plugin {
  public:
    Plugin() = default;
    // Takes over a plugin that is already initialised.
    explicit Plugin(const pbs_plugin& table) : table_(table) {}
    ~Plugin() = default;
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Loads and initialises the plugin. The error's message names the file and the reason. Call it once.
    ifl::Result<void> load(Options options);

    std::string_view name() const { return cluster::view(table_.name); }
    std::string_view version() const { return cluster::view(table_.version); }

    // Opens the plugin's store. PBSE_SYSTEM: the store's database can't be used.
    ifl::Result<void> start(std::int64_t now);
    // Saves the plugin's data. No call may follow.
    void stop(std::int64_t now);

    // Does this attribute of a host's object belong to the plugin?
    bool owns(int object_type, std::string_view attribute) const;

    // Carries out a Manager request, or the plugin's part of one. Returns the warning, which may be empty. A
    // change of the plugin's own objects isn't durable before commit().
    ifl::Result<std::string> manager(std::int64_t now, const ManagerRequest& request, const Identity& who);
    // Gives up the request with this ticket.
    void abandon(std::uint64_t ticket);
    // Is a request with a ticket under way? Then manager() without a ticket returns PBSE_OBJBUSY.
    bool busy() const;
    // Must commit() follow? It must after a Manager request for one of the plugin's own objects.
    bool uncommitted() const { return uncommitted_; }
    // Makes durable the changes that manager() has made since the last commit. On an error they are all
    // undone, so no client may have heard of one before.
    ifl::Result<void> commit(std::int64_t now);

    // Describes objects. `next`: if `extend` asks for a page, the name after which the next page begins;
    // empty: this was the last.
    ifl::Reply status(std::int64_t now, int object_type, std::string_view name, const ifl::Attributes& wanted,
                      const Identity& who, std::string_view extend, std::string* next = nullptr);
    // Describes objects in parts, each short enough that other clients needn't wait. Returns the extend
    // string for the next part; empty: this was the last. With a ticket, as for manager(), the answer may be
    // PBSE_TRYAGAIN.
    ifl::Result<std::string> status_part(std::int64_t now, int object_type, std::string_view name,
                                         const ifl::Attributes& wanted, const Identity& who,
                                         std::string_view extend, std::uint64_t ticket,
                                         ifl::StatusParts& out);
    // The attributes that the plugin adds to a host's object.
    ifl::Attributes shown(std::int64_t now, int object_type, std::string_view name) const;
    // Returns a line for each attribute that the policy in force doesn't act on. `attributes`: those that are
    // being set on a queue of this partition.
    std::string not_acted_on(std::int64_t now, std::string_view queue, std::string_view partition,
                             const ifl::Attributes& attributes) const;
    // The values of the attribute peer_queue: "QUEUE QUEUE@SERVER", the local queue and the remote one. Jobs
    // are pulled from the latter.
    std::vector<std::string> peer_queues(std::int64_t now, std::string_view sched) const;

    // Events: the object of the record was made or changed, or is gone.
    void tell(const pbs_resource_record& record) { table_.resource_defined(table_.self, &record); }
    void tell(const pbs_server_record& record) { table_.server_changed(table_.self, &record); }
    void tell(const pbs_sched_record& record) { table_.sched_changed(table_.self, &record); }
    void tell(const pbs_queue_record& record) { table_.queue_changed(table_.self, &record); }
    void tell(const pbs_vnode_record& record) { table_.vnode_changed(table_.self, &record); }
    void tell(std::int64_t now, const pbs_job_record& record) {
        table_.job_changed(table_.self, now, &record);
    }
    void tell(const pbs_reservation_record& record) { table_.reservation_changed(table_.self, &record); }
    void resource_removed(std::string_view name) {
        table_.resource_removed(table_.self, cluster::c_str(name));
    }
    void sched_removed(std::string_view name) { table_.sched_removed(table_.self, cluster::c_str(name)); }
    void queue_removed(std::uint64_t queue) { table_.queue_removed(table_.self, queue); }
    void vnode_removed(std::uint64_t vnode) { table_.vnode_removed(table_.self, vnode); }
    void job_removed(std::int64_t now, std::uint64_t job) { table_.job_removed(table_.self, now, job); }
    void reservation_removed(std::uint64_t reservation) {
        table_.reservation_removed(table_.self, reservation);
    }

    // The next instant at which tick() has work. It may change with any call.
    std::int64_t next_deadline(std::int64_t now) const { return table_.next_deadline(table_.self, now); }
    // Does the work that is due. Afterwards wanted() returns the trigger of the cycle that a scheduler wants:
    // PBS_SCH_*; 0: none.
    void tick(std::int64_t now);
    int wanted(std::string_view sched) const;

    // Do the plugin's cycles schedule the jobs of this scheduler? If not, pbs_sched has to, or a program that
    // has registered.
    bool schedules(std::int64_t now, std::string_view sched) const {
        return table_.schedules(table_.self, now, cluster::c_str(sched)) != 0;
    }
    // The number of the last change of an object.
    std::int64_t last_change() const { return table_.last_change(table_.self); }
    // Begins a cycle. True: it goes on in a thread of the plugin, which calls Options::cycle_finished at its
    // end. False: the cycle is over. PBSE_TRYAGAIN: call again after Options::work_finished is called.
    ifl::Result<bool> start_cycle(std::int64_t now, std::string_view sched, int trigger);
    // Returns the decisions; waits for the cycle if it still runs. Call once after each start_cycle() that
    // returned no error.
    ifl::Result<Decisions> finish_cycle(std::int64_t now);
    // Finds a place for a job that isn't running. The last decision is `run`, after decisions that preempt
    // others for the job; or it is `comment`, with the reason why there is no place. Limits, times and the
    // order of jobs don't count. PBSE_TRYAGAIN: call again after finish_cycle().
    ifl::Result<Decisions> place_job(std::int64_t now, std::uint64_t job);

  private:
    pbs_host host_table();

    Options options_;  // host_ points into it
    pbs_host host_{};
    pbs_plugin table_{};
    bool uncommitted_ = false;
    bool wants_cycle_ = false;
};

}  // namespace pbs::client
