// The server's data in memory: objects, jobs, and what follows from them (counts, assigned resources).
//
// The folder state/ has values, and facts about them that need no change of the server: the objects
// (objects.h) and their attributes (attributes.h, values.h); State, which finds and counts them; and facts
// that follow from an object alone or with the State, such as array.h, preemption.h, reservation.h,
// accrual.h. job_state.h has the table of a job's states. An object is a value: a Change (change/change.h)
// works on a copy, and put() replaces the object:
//   advance(job, JobEvent::settled, state, now);
//   state.put(std::move(job));  // counts follow
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server_plugin/host/state/dependencies.h"
#include "server_plugin/host/state/job_name.h"
#include "server_plugin/host/state/limits.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/resource_table.h"
#include "values/tables.h"

namespace pbs::host {

// Returns the amounts in the Resource_List of a job or a reservation, for the resources that are summed at
// the server and at queues.
Amounts counted_amounts(const Attributes& attributes, const ResourceTable& resources);

class State {
  public:
    // The objects that managers set up, in tables of their own, which Batch can exchange for the server's.
    struct Tables {
        Attributes server;
        ResourceTable resources;
        std::map<std::string, Queue, std::less<>> queues;
        std::unordered_map<uint64_t, std::string> queue_names;
        std::map<std::string, Node, std::less<>> nodes;
        std::unordered_map<uint64_t, std::string> node_names;
        std::map<std::string, Sched, std::less<>> scheds;
        NodeCounts node_counts{};
    };
    Tables tables() const {
        return {server, resources, queues_, queue_names_, nodes_, node_names_, scheds_, node_counts_};
    }
    // exchange() swaps the State's tables with `tables`, for a time: the next call swaps them back. install()
    // swaps them for good. Counts of jobs stay, even those of queues and nodes that the new tables don't
    // have.
    void exchange(Tables& tables);
    void install(Tables& tables) {
        exchange(tables);
        exchanged_ = false;
    }
    // Removes the counts of a queue or node that was deleted for good.
    void forget_queue(uint64_t handle);
    void forget_node(uint64_t handle);

    std::string server_name;  // the server's name in job ids
    std::string host_name;    // this machine's name
    // The first part of this machine's name.
    std::string_view short_host_name() const {
        return std::string_view(host_name).substr(0, host_name.find('.'));
    }
    // Returns whether this machine has the name: its full or its short one.
    bool is_this_host(std::string_view name) const;
    // Returns whether a vnode with this Mom is a part of this machine: also "localhost" names it.
    bool is_own_mom(std::string_view mom) const { return is_this_host(mom) || same_name(mom, "localhost"); }
    Attributes server;
    ResourceTable resources;
    int64_t next_sequence = 0;  // the number for the next job
    // A number that changes with each change of vnodes and of the objects that managers set up.
    uint64_t setup() const { return setup_; }
    void setup_changed() { ++setup_; }
    Dependencies dependencies;

    const std::map<uint64_t, Job>& jobs() const { return jobs_; }  // by handle: the order of queueing
    const std::map<std::string, Queue, std::less<>>& queues() const { return queues_; }
    const std::map<std::string, Node, std::less<>>& nodes() const { return nodes_; }
    const std::map<std::string, Sched, std::less<>>& scheds() const { return scheds_; }

    // Returns whether this server has the name: its own name or its machine's, short or full, or "localhost".
    bool is_this_server(std::string_view name) const;
    // Returns the number (job_name.h) of the job or array with this id; nullopt: it isn't an id of this
    // server.
    std::optional<uint64_t> sequence_in(std::string_view id) const;
    // Returns the id of a job or array of this server: "12.server", "12[].server".
    std::string job_id(uint64_t sequence) const;
    // Parses an id of this server. Returns nullopt if the id is malformed or another server's.
    std::optional<JobName> job_name(std::string_view id) const;

    // These functions find an object; nullptr: there is none. An id may have the server's name ("12.server")
    // or not, in any case, and "@server" after it. A subjob is found if it is a job of its own.
    const Job* job(std::string_view id) const;
    const Job* job(uint64_t handle) const;
    // Finds a job by its handle in the plugin (array.h).
    const Job* job_told_as(uint64_t handle) const;
    const Job* job_of_sequence(uint64_t sequence) const;
    const Job* subjob(uint64_t array, int64_t index) const;
    const Queue* queue(std::string_view name) const;
    const Queue* queue(uint64_t handle) const;
    const Node* node(std::string_view name) const;
    const Node* node(uint64_t handle) const;
    const Sched* sched(std::string_view name) const;

    // Reservations, by the number in the id. reservation() accepts ids in the same forms as job().
    const std::map<uint64_t, Reservation>& reservations() const { return reservations_; }
    const Reservation* reservation(std::string_view id) const;
    const Reservation* reservation(uint64_t handle) const;
    const Reservation* reservation_of_queue(uint64_t queue) const;  // nullptr: it isn't a reservation's
    // The numbers of the reservations that have the vnode in any of their occurrences.
    const std::set<uint64_t>& reservations_on(uint64_t node) const;
    std::string reservation_id(uint64_t number) const;  // "R12.server"

    // Returns a handle that no object of this process has had.
    uint64_t new_handle() { return ++last_handle_; }
    // Returns a number for a new subjob.
    uint64_t new_subjob() { return ++last_subjob_; }
    // Returns a number for a job with another server's id.
    uint64_t new_foreign() { return ++last_foreign_; }
    // Finds a job with another server's id; nullptr: there is none.
    const Job* foreign_job(std::string_view id) const;
    void handle_in_use(uint64_t handle) { last_handle_ = std::max(last_handle_, handle); }

    // put() replaces the object with the same handle or name, or adds the object, and updates the counts.
    void put(Job job);
    // Adds a job that was loaded from the database. REQUIRES: it is queued after all others, and has no
    // unused memory.
    void put_loaded(std::map<uint64_t, Job>::node_type job);
    // Sets only a job's comment and mtime.
    void set_comment(uint64_t job, std::string_view comment, int64_t mtime);
    void put(Queue queue);
    void put(Node node);
    void put(Sched sched);
    void put(Reservation reservation);
    void erase_reservation(uint64_t handle);
    void erase_job(uint64_t handle);
    void erase_queue(std::string_view name);
    void erase_node(std::string_view name);
    void erase_sched(std::string_view name);

    // Sets the expected start and places of a queued job; a start of 0: unknown. The estimate is removed when
    // the job leaves the queued state.
    void set_estimate(uint64_t job, Estimate estimate);
    const Estimate* estimate(uint64_t job) const;  // nullptr: none is known

    // Remembers texts, so that jobs with equal texts share memory.
    SharedTexts& texts() { return texts_; }

    const StateCounts& counts() const { return counts_; }
    const NodeCounts& node_counts() const { return node_counts_; }
    const StateCounts& queue_counts(uint64_t queue) const;
    const EntityCounts& entity_counts() const { return entity_counts_; }
    const Usage& node_usage(uint64_t node) const;
    const Usage& queue_usage(uint64_t queue) const;
    const Usage& server_usage() const { return server_usage_; }
    // The handles of the queue's jobs, in the order of queueing.
    const Handles& queue_jobs(uint64_t queue) const;  // includes jobs in the history
    // The handles of those subjobs of an array that are jobs of their own, by index.
    const std::map<int64_t, uint64_t>& subjobs(uint64_t array) const;
    const Handles& waiting_jobs() const { return waiting_; }
    const Handles& running_jobs() const { return running_; }  // includes suspended ones
    const Handles& finished_jobs() const { return finished_; }
    // The handles of the jobs that wait for preemptions before they are launched (preemption.h).
    const Handles& awaiting_jobs() const { return awaiting_; }
    bool checkpoints = false;  // this host can checkpoint jobs

  private:
    void count(const Job& job, int64_t by);
    void index_names(const Job& job, bool in);
    void index_nodes(uint64_t number, const Reservation& reservation, bool in);
    void enter(const Job& job);

    std::map<uint64_t, Job> jobs_;
    SharedTexts texts_;  // the texts of attributes that jobs share
    values::BtreeMap<uint64_t, uint64_t> handle_of_sequence_;
    std::unordered_map<std::string, uint64_t> foreign_;  // ids in lower case to handles
    std::unordered_map<uint64_t, uint64_t> told_;        // from the plugin's handle of a job to the job's own
    std::unordered_map<uint64_t, std::map<int64_t, uint64_t>> subjobs_;  // by array
    std::map<std::string, Queue, std::less<>> queues_;
    std::unordered_map<uint64_t, std::string> queue_names_;
    std::map<std::string, Node, std::less<>> nodes_;
    std::unordered_map<uint64_t, std::string> node_names_;
    std::map<std::string, Sched, std::less<>> scheds_;
    std::map<uint64_t, Reservation> reservations_;
    std::unordered_map<uint64_t, std::set<uint64_t>> reservations_on_;  // by vnode
    std::unordered_map<uint64_t, Estimate> estimates_;                  // by handle
    StateCounts counts_;
    NodeCounts node_counts_{};
    std::unordered_map<uint64_t, StateCounts> queue_counts_;
    EntityCounts entity_counts_;
    std::unordered_map<uint64_t, Usage> node_usage_;
    std::unordered_map<uint64_t, Usage> queue_usage_;
    Usage server_usage_;
    std::unordered_map<uint64_t, Handles> queue_jobs_;
    Handles waiting_;
    Handles running_;
    Handles finished_;
    Handles awaiting_;
    uint64_t last_handle_ = 0;
    uint64_t last_subjob_ = kSubjobMark;
    uint64_t last_foreign_ = kForeignMark;
    uint64_t setup_ = 0;
    bool exchanged_ = false;  // the tables are exchanged for a time: the next exchange() swaps them back
};

}  // namespace pbs::host
