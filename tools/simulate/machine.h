// The simulated machine: resources, queues, vnodes and schedulers with their attributes, as in the part
// "host" of a document of pbs_config(8). Directives of qmgr can change them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// The attributes of an object, as texts: "resources_available.ncpus" is "4", "queue_type" is "Execution".
using Values = std::map<std::string, std::string, std::less<>>;
using Objects = std::map<std::string, Values, std::less<>>;

struct Machine {
    Values server;
    Objects queues;
    Objects nodes;
    Objects resources;
    Objects scheds;
};

// Reads the machine from the part "host" of a document that pbs_config has exported. If that part is missing
// (exported --without-server), the machine is empty. Errors: the text isn't JSON, or an object has values
// other than texts.
Result<Machine> read_machine(std::string_view document, std::string_view name);

// Adds `nodes` vnodes that share `cpus` CPUs evenly (the first ones get the rest), each with `mem` bytes of
// memory (0: memory isn't checked).
void add_nodes(Machine& machine, std::int64_t nodes, std::int64_t cpus, std::int64_t mem);

// Adds an enabled and started execution queue, unless the name exists.
void add_queue(Machine& machine, const std::string& name);

// A machine in the scheduler's terms: its names have numbers.
class Cluster {
  public:
    // Converts a machine. The error names the object and the attribute that can't be read.
    static Result<Cluster> make(const Machine& machine);

    // Tells a scheduler of the whole machine.
    Result<void> tell(sched::Scheduler& scheduler) const;
    // Tells a scheduler of a vnode again, with a load average in thousandths.
    Result<void> tell_load(sched::Scheduler& scheduler, std::uint64_t vnode, std::int64_t load) const;
    // The number of all vnodes, which are numbered from 1, and the host of a vnode.
    std::uint64_t all_vnodes() const { return machine_.nodes.size(); }
    std::string host_of(std::uint64_t vnode) const;
    struct Vnode {
        std::string name;
        std::string host;
        bool free = true;                      // jobs may start there
        std::vector<sched::Amount> available;  // its resources_available
    };
    // Calls visit() for each vnode, in the order of their numbers. The error names an amount that can't be
    // read.
    Result<void> for_each_vnode(const std::function<void(const Vnode&)>& visit) const;

    struct Resource {
        std::string name;
        sched::ResourceKind kind = sched::ResourceKind::integer;
        bool consumable = false;
        bool of_vnodes = false;  // jobs get it from vnodes, not from the whole server
    };
    const std::vector<Resource>& resources() const { return resources_; }
    // Returns a resource's number; nullptr: there is no such resource.
    const std::uint32_t* resource(std::string_view name) const;
    // Returns whether chunks of jobs consume amounts of the resource on their vnodes.
    bool is_of_vnodes(std::uint32_t resource) const {
        return resources_[resource].consumable && resources_[resource].of_vnodes;
    }
    // Reads a value of a resource. Strings are views of `text`. Errors: unknown resource, or a value of
    // another kind.
    Result<sched::Amount> amount(std::string_view resource, std::string_view text) const;

    struct Queue {
        std::string name;
        bool execution = true;
        std::vector<std::string> destinations;  // destinations of a route queue
    };
    const std::vector<Queue>& queues() const { return queues_; }  // by the queue's handle - 1
    // Finds the execution queue for jobs that are submitted to `name` ("": the default queue), along the
    // first destinations of route queues; nullptr: there is none.
    const Queue* entry(std::string_view name) const;
    sched::QueueHandle handle(const Queue& queue) const {
        return sched::QueueHandle(static_cast<std::uint64_t>(&queue - queues_.data()) + 1);
    }
    const Queue& queue(sched::QueueHandle handle) const {
        return queues_[static_cast<std::size_t>(handle) - 1];
    }

    struct Sched {
        std::string name;
        std::int64_t iteration = 600;  // scheduler_iteration, in seconds
    };
    const std::vector<Sched>& scheds() const { return scheds_; }

    // Returns the CPUs of all vnodes on which jobs may start.
    std::int64_t cpus() const { return cpus_; }
    std::size_t vnodes() const { return vnodes_; }
    // Returns the number of CPUs that most of these vnodes have. Larger jobs are cut into chunks of that
    // size.
    std::int64_t cpus_of_a_vnode() const { return cpus_of_a_vnode_; }
    bool has_memory() const { return has_memory_; }
    // Returns whether a suspended job releases the resource (restrict_res_to_release_on_suspend).
    bool is_released(std::uint32_t resource) const;
    bool is_all_released() const { return suspend_releases_.empty(); }
    // Returns whether eligible time is counted (eligible_time_enable).
    bool counts_eligible_time() const { return counts_eligible_time_; }

  private:
    Result<void> read_resources();
    Result<void> read_queues();
    Result<void> read_nodes();
    Result<void> read_scheds();
    Result<void> read_server();
    Result<void> tell_queue(sched::Scheduler& scheduler, const Queue& queue) const;
    Result<void> tell_node(sched::Scheduler& scheduler, std::uint64_t number, const std::string& name,
                           const Values& values, std::int64_t load = -1) const;

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
    std::string suspend_releases_;  // comma-separated resources; empty: all
    bool counts_eligible_time_ = false;
};

}  // namespace pbs::simulate
