// Gives the hosts of a simulation a load, since simulated jobs cause none (--load-model cpus): a host's load
// average is the number of its CPUs that jobs have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/simulate/machine.h"

namespace pbs::simulate {

class LoadModel {
  public:
    // The cluster has to outlive the model.
    explicit LoadModel(const Cluster& cluster);
    // Tells the scheduler that all hosts have no load.
    Result<void> begin(sched::Scheduler& scheduler) const;
    // Tells the scheduler the new loads after a change of the vnode shares that a job holds: of the hosts of
    // `places`, and of those that the job has left.
    Result<void> holds(sched::Scheduler& scheduler, std::size_t job, std::span<const sched::Place> places);
    // The numbers of the vnodes of which the last holds() has told the scheduler.
    const std::vector<std::uint64_t>& told() const { return told_; }

  private:
    struct Host {
        std::vector<std::uint64_t> vnodes{};  // numbers of the host's vnodes
        std::int64_t cpus = 0;                // CPUs of the host that are in use
    };
    Result<void> tell(sched::Scheduler& scheduler, std::size_t host) const;

    const Cluster& cluster_;
    std::uint32_t ncpus_;
    std::vector<Host> hosts_;
    std::vector<std::uint64_t> told_;
    std::vector<std::size_t> host_of_;  // by the number of the vnode - 1
    std::unordered_map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>> held_;  // CPUs, by job
};

}  // namespace pbs::simulate
