// A host's interface to a policy plugin, which is a shared object behind the C interface of pbs_plugin.h.
//
// The host loads the plugin, reports all its objects to the plugin, and starts it. From then on it calls the
// plugin from one thread. A cycle may run in a thread of the plugin: call start_cycle(), then finish_cycle().
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
    std::int64_t first_change = 0;  // the number before that of the first change (struct pbs_host)
    // Writes a line to the log. `level`: enum pbs_log_level; `object`: the subject of the line, or empty.
    std::function<void(std::int32_t level, std::string_view object, std::string_view line)> log{};
    // Called from a thread of the plugin when a cycle of start_cycle() is over, until the plugin is stopped.
    // Empty: the host calls finish_cycle() right after start_cycle(), and waits there.
    std::function<void()> cycle_finished{};
    // Called from a thread of the plugin when the answer to a status request with a ticket is ready. Empty:
    // the host waits for each answer.
    std::function<void()> work_finished{};
    bool has_pbs_sched = false;  // the host has OpenPBS's pbs_sched
    bool pulls = false;          // the host pulls jobs from other servers
    bool weighs = false;         // the host weighs the processes of running jobs
    std::uint64_t takes = 0;     // the decisions of cycles that the host can carry out: bits of pbs_takes
    std::uint64_t takes_of_place_job = 0;  // the same for decisions of place_job()
};

using cluster::Identity;

struct ManagerRequest {
    int command = 0;                // enum pbs_manager_command
    std::uint32_t object_type = 0;  // PBS_OBJ_*
    std::string object;             // name of the object
    ifl::Attributes attributes;
    std::string extend{};
    bool check_only = false;
    // 0, or a number that no other request has. With a number, the answer may be PBSE_TRYAGAIN: nothing has
    // changed so far, and the host repeats the call some milliseconds later, or gives the request up with
    // abandon().
    std::uint64_t ticket = 0;
    std::string_view text{};  // the request as typed in qmgr
    std::span<const pbs_host_change> changes{};
};

// Returns whether only the plugin has objects of this type. Changes of them are durable after
// Plugin::commit().
bool is_plugin_type(std::uint32_t object_type);

// The decisions of a cycle, in the plugin's memory: valid until the next start_cycle(),
// forget_decisions() or stop().
class Decisions {
  public:
    Decisions() = default;
    explicit Decisions(const pbs_cycle_result& result)
        : list_(result.decisions, result.decision_count),
          considered_(result.jobs_considered),
          log_event_(result.log_event) {}
    std::size_t size() const { return list_.size(); }
    std::int64_t considered() const { return considered_; }  // number of jobs that the cycle looked at
    // The kinds of events to log, by the policy in force: bits as in the server's log_events. -1: as after
    // the last cycle, because this one had nothing to decide.
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
    // Uses a plugin that is already initialised.
    explicit Plugin(const pbs_plugin& table) : table_(table) {}
    ~Plugin() = default;
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Loads and initialises the plugin. Call it once. The error's message names the file and the reason.
    ifl::Result<void> load(Options options);

    std::string_view name() const { return cluster::view(table_.name); }
    std::string_view version() const { return cluster::view(table_.version); }

    // Opens the plugin's store. Error PBSE_SYSTEM: the store's database can't be used.
    ifl::Result<void> start(std::int64_t now);
    // Saves the plugin's data. No other function may be called afterwards.
    void stop(std::int64_t now);

    // Returns whether the plugin keeps this attribute of an object of the host.
    bool owns(int object_type, std::string_view attribute) const;

    // Carries out a Manager request, or the plugin's part of it. Returns a warning, or an empty text. A
    // change of an object that only the plugin has isn't durable before commit().
    ifl::Result<std::string> manager(std::int64_t now, const ManagerRequest& request, const Identity& who);
    // Gives up the request with this ticket.
    void abandon(std::uint64_t ticket);
    // Returns whether a request with a ticket isn't finished. If so, manager() without a ticket returns
    // PBSE_OBJBUSY.
    bool busy() const;
    // Returns whether commit() must follow, as after a Manager request for an object that only the plugin
    // has.
    bool uncommitted() const { return uncommitted_; }
    // Makes the changes durable that manager() has made since the last commit. An error undoes all of them,
    // so tell no client of a change before its commit.
    ifl::Result<void> commit(std::int64_t now);

    // Returns the status of objects. If `extend` asks for a page, `next` becomes the name behind which the
    // next page begins; empty: this was the last page.
    ifl::Reply status(std::int64_t now, int object_type, std::string_view name, const ifl::Attributes& wanted,
                      const Identity& who, std::string_view extend, std::string* next = nullptr);
    // Returns the status of objects in parts, each of which takes so little time that other clients needn't
    // wait. Returns the extend string for the next part; empty: this was the last one. With a ticket, as for
    // manager(), the answer may be PBSE_TRYAGAIN.
    ifl::Result<std::string> status_part(std::int64_t now, int object_type, std::string_view name,
                                         const ifl::Attributes& wanted, const Identity& who,
                                         std::string_view extend, std::uint64_t ticket,
                                         ifl::StatusParts& out);
    // Returns the attributes that the plugin adds to an object of the host.
    ifl::Attributes shown(std::int64_t now, int object_type, std::string_view name) const;
    // Returns a line for each of `attributes` on which the policy in force doesn't act. The attributes are
    // being set on `queue`, which belongs to `partition`.
    std::string not_acted_on(std::int64_t now, std::string_view queue, std::string_view partition,
                             const ifl::Attributes& attributes) const;
    // Returns the values of the scheduler's peer_queue: "QUEUE QUEUE@SERVER", a local queue and the remote
    // queue from which it pulls jobs.
    std::vector<std::string> peer_queues(std::int64_t now, std::string_view sched) const;

    // Tell the plugin that the object of the record was made, has changed, or is gone.
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

    // Returns the next instant at which tick() has work. It may change with any call.
    std::int64_t next_deadline(std::int64_t now) const { return table_.next_deadline(table_.self, now); }
    // Does the work that is due. Afterwards wanted() returns the trigger of the cycle that a scheduler needs:
    // PBS_SCH_*; 0: it needs none.
    void tick(std::int64_t now);
    int wanted(std::string_view sched) const;

    // Returns who schedules the jobs of this scheduler: enum pbs_scheduled_by.
    int scheduled_by(std::int64_t now, std::string_view sched) const {
        return table_.scheduled_by(table_.self, now, cluster::c_str(sched));
    }
    // Returns the number of the last change of an object.
    std::int64_t last_change() const { return table_.last_change(table_.self); }
    // Begins a cycle. True: it goes on in a thread of the plugin, which calls Options::cycle_finished at its
    // end. False: it is over. Error PBSE_TRYAGAIN: call again when Options::work_finished has been called.
    ifl::Result<bool> start_cycle(std::int64_t now, std::string_view sched, int trigger);
    // Returns the decisions of a cycle. Waits if the cycle still runs. Call it once after each start_cycle()
    // that returned no error.
    ifl::Result<Decisions> finish_cycle(std::int64_t now);
    // Frees the decisions of the last cycle. REQUIRES: finish_cycle() has returned, if a cycle has begun.
    void forget_decisions() { table_.forget_decisions(table_.self); }
    // Returns whether a cycle has begun and finish_cycle() hasn't returned: place_job() and test_start()
    // would return PBSE_TRYAGAIN.
    bool has_cycle() const { return has_cycle_; }
    // Finds a place for a job that isn't running, whatever its limits, times and place in the order. The last
    // decision is `run`, after decisions that preempt other jobs for it; or it is `comment`, with the reason
    // for which there is no place. Error PBSE_TRYAGAIN: call again after finish_cycle().
    ifl::Result<Decisions> place_job(std::int64_t now, std::uint64_t job);
    // A start that is to be tested.
    struct AskedStart {
        std::uint64_t job = 0;
        std::span<const pbs_place> places{};     // where it is to be; none: where the policy chooses
        std::span<const std::uint8_t> joined{};  // for each place: 1 if it belongs to the chunk before it
        std::string_view user{};                 // who asks
        std::uint64_t ticket = 0;  // lets the call return PBSE_TRYAGAIN, and be repeated, if it takes long
    };
    // Tests whether a job may start now, by all that decides about this job alone. The decision is `run`,
    // with places if none were given, or `comment`, with the reason why not. `explanation`: gets the objects
    // of an explanation of this start; null: not wanted. PBSE_TRYAGAIN: call again after finish_cycle(), or
    // when Options::work_finished is called; or give the ticket up (abandon()). PBSE_OBJBUSY, with a
    // text: so much changes that no test's answer holds. PBSE_NOSUP, with a text: the policy in force has the
    // algorithm origin.
    ifl::Result<Decisions> test_start(std::int64_t now, const AskedStart& asked,
                                      std::vector<ifl::ObjectStatus>* explanation);

  private:
    pbs_host host_table();

    Options options_;  // host_ points into it
    pbs_host host_{};
    pbs_plugin table_{};
    bool uncommitted_ = false;
    bool wants_cycle_ = false;
    bool has_cycle_ = false;
};

}  // namespace pbs::client
