// The machine that a simulation runs on: resources, queues, vnodes and schedulers with their attributes, as
// the server's own part ("host") of a document of pbs_config(8) has them, and as qmgr directives change them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// "resources_available.ncpus" to "4", "queue_type" to "Execution".
using Values = std::map<std::string, std::string, std::less<>>;
using Objects = std::map<std::string, Values, std::less<>>;

struct Machine {
    Values server;
    Objects queues;
    Objects nodes;
    Objects resources;
    Objects scheds;
};

// Of a document that pbs_config exported: its "host"; without one (exported --without-server) an empty
// machine. Errors: no JSON, or an object that isn't one of attributes with texts.
Result<Machine> read_machine(std::string_view document, std::string_view name);

// A machine of `nodes` vnodes that share `cpus` CPUs evenly (the first ones get what is left over), each with
// `mem` bytes of memory (0: memory isn't looked at).
void add_nodes(Machine& machine, std::int64_t nodes, std::int64_t cpus, std::int64_t mem);

// Adds an execution queue that takes jobs and starts them, unless there is a queue of that name.
void add_queue(Machine& machine, const std::string& name);

// The machine as the scheduler knows it, and its names by number and number by name.
class Cluster {
  public:
    // Errors: an attribute whose text makes no sense, naming the object.
    static Result<Cluster> make(const Machine& machine);

    // Tells a scheduler of all of it.
    Result<void> tell(sched::Scheduler& scheduler) const;

    struct Resource {
        std::string name;
        sched::ResourceKind kind = sched::ResourceKind::integer;
        bool consumable = false;
    };
    const std::vector<Resource>& resources() const { return resources_; }
    // The number of a resource; nullptr: there is none of the name.
    const std::uint32_t* resource(std::string_view name) const;
    // A value of a resource. Strings view `text`. Errors: no such resource, or no value of its kind.
    Result<sched::Amount> amount(std::string_view resource, std::string_view text) const;

    struct Queue {
        std::string name;
        bool execution = true;
        std::vector<std::string> destinations;  // of a route queue
    };
    const std::vector<Queue>& queues() const { return queues_; }  // handles are positions + 1
    // The execution queue that a job comes to that is submitted to this one ("": the default queue), by the
    // first way of its route destinations; nullptr: there is no such queue.
    const Queue* entry(std::string_view name) const;
    sched::QueueHandle handle(const Queue& queue) const {
        return sched::QueueHandle(static_cast<std::uint64_t>(&queue - queues_.data()) + 1);
    }
    const Queue& queue(sched::QueueHandle handle) const {
        return queues_[static_cast<std::size_t>(handle) - 1];
    }

    struct Sched {
        std::string name;
        std::int64_t iteration = 600;  // scheduler_iteration, seconds
    };
    const std::vector<Sched>& scheds() const { return scheds_; }

    // Of the vnodes that jobs may start on.
    std::int64_t cpus() const { return cpus_; }
    std::size_t vnodes() const { return vnodes_; }
    // The CPUs that most of them have: what a job of many CPUs is cut into.
    std::int64_t cpus_of_a_vnode() const { return cpus_of_a_vnode_; }
    bool has_memory() const { return has_memory_; }
    // Does a suspended job give the resource back? (restrict_res_to_release_on_suspend)
    bool is_released(std::uint32_t resource) const;
    bool is_all_released() const { return suspend_releases_.empty(); }
    // Is eligible time counted by what jobs wait for? (eligible_time_enable)
    bool counts_eligible_time() const { return counts_eligible_time_; }

  private:
    Result<void> read_resources();
    Result<void> read_queues();
    Result<void> read_nodes();
    Result<void> read_scheds();
    Result<void> read_server();
    Result<void> tell_queue(sched::Scheduler& scheduler, const Queue& queue) const;
    Result<void> tell_node(sched::Scheduler& scheduler, std::uint64_t number, const std::string& name,
                           const Values& values) const;

    Machine machine_;
    std::vector<Resource> resources_;
    std::map<std::string, std::uint32_t, std::less<>> resource_ids_;
    std::vector<Queue> queues_;
    std::string default_queue_;
    std::vector<Sched> scheds_;
    std::int64_t cpus_ = 0;
    std::size_t vnodes_ = 0;
    std::int64_t cpus_of_a_vnode_ = 0;
    bool has_memory_ = false;
    std::string suspend_releases_;  // resources, with commas; empty: all
    bool counts_eligible_time_ = false;
};

}  // namespace pbs::simulate
