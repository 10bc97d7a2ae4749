#include "tools/simulate/loads.h"

#include <algorithm>

namespace pbs::simulate {

LoadModel::LoadModel(const Cluster& cluster) : cluster_(cluster), ncpus_(*cluster.resource("ncpus")) {
    std::map<std::string, std::size_t> numbers;
    for (std::uint64_t vnode = 1; vnode <= cluster.all_vnodes(); ++vnode) {
        const std::size_t host = numbers.try_emplace(cluster.host_of(vnode), hosts_.size()).first->second;
        if (host == hosts_.size()) hosts_.emplace_back();
        hosts_[host].vnodes.push_back(vnode);
        host_of_.push_back(host);
    }
}

Result<void> LoadModel::begin(sched::Scheduler& scheduler) const {
    for (std::size_t host = 0; host < hosts_.size(); ++host)
        if (auto done = tell(scheduler, host); !done) return done;
    return {};
}

Result<void> LoadModel::holds(sched::Scheduler& scheduler, std::size_t job,
                              std::span<const sched::Place> places) {
    told_.clear();
    auto& held = held_[job];
    std::map<std::size_t, std::int64_t> changes;
    for (const auto& [host, cpus] : held) changes[host] -= cpus;
    held.clear();
    for (const sched::Place& place : places)
        for (const sched::Amount& amount : place.amounts) {
            if (amount.resource != ncpus_) continue;
            const std::size_t host = host_of_[static_cast<std::size_t>(place.vnode) - 1];
            held.emplace_back(host, amount.number);
            changes[host] += amount.number;
        }
    if (held.empty()) held_.erase(job);
    for (const auto& [host, cpus] : changes) {
        if (cpus == 0) continue;
        hosts_[host].cpus += cpus;
        if (auto done = tell(scheduler, host); !done) return done;
        told_.insert(told_.end(), hosts_[host].vnodes.begin(), hosts_[host].vnodes.end());
    }
    return {};
}

Result<void> LoadModel::tell(sched::Scheduler& scheduler, std::size_t host) const {
    for (const std::uint64_t vnode : hosts_[host].vnodes)
        if (auto done = cluster_.tell_load(scheduler, vnode, 1000 * hosts_[host].cpus); !done) return done;
    return {};
}

}  // namespace pbs::simulate
