// The loads of hosts: those that the records of their vnodes have, and the CPUs of jobs that have started
// since these were measured.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

// Stores the load of a vnode's host. All vnodes of a host have the same load in their records; the first one
// with a new measurement counts. Returns whether anything has changed.
bool Inventory::set_load(VnodeSlot slot, const VnodeRecord& record) {
    Vnode& vnode = vnodes_[slot];
    const bool same = vnode.load_thousandths == record.load_thousandths && vnode.busy == record.busy &&
                      vnode.max_load_thousandths == record.max_load_thousandths &&
                      host_loads_[vnode.host_number].at == record.load_at;
    if (std::exchange(vnode.load_thousandths, record.load_thousandths) != record.load_thousandths) {
        ++load_version_;
        loads_.note(vnode.host_number);
    }
    vnode.system_time_thousandths = record.system_time_thousandths;
    vnode.max_load_thousandths = record.max_load_thousandths;
    vnode.busy = record.busy;
    has_maximal_loads_ = has_maximal_loads_ || vnode.busy || vnode.max_load_thousandths >= 0;
    HostLoad& load = host_loads_[vnode.host_number];
    if (load.at == record.load_at) return !same;
    load = {record.load_at, 0};
    for (const VnodeSlot other : of_host(slot))
        for (const JobSlot job : jobs_on(other)) {
            const HeldJob& held = *held_of(job);
            if (!counts_load(held, other)) continue;
            for_each_part_on(held, other,
                             [&](const Held& part) { count_load(other, held.amounts_of(part), 1); });
        }
    return true;
}

// Returns the load, in thousandths, that a job's share of a vnode counts as: 1000 for each CPU.
std::int64_t Inventory::load_of(std::span<const Need> needs) const {
    std::int64_t load = 0;
    for (const Need& need : needs)
        if (need.resource == columns_.known().ncpus) load += 1000 * need.amount;
    return load;
}

bool Inventory::counts_load(const HeldJob& held, VnodeSlot vnode) const {
    return load_at(vnode) != Instant{} && held.started >= load_at(vnode);
}

// Adds the CPUs of a job that has just started to the load of its vnode's host.
void Inventory::count_load(VnodeSlot slot, std::span<const Need> needs, std::int64_t times) {
    host_loads_[vnodes_[slot].host_number].started += times * load_of(needs);
}

// Adds the CPUs of all parts of a running job to the loads of hosts that were measured before its start. Sign
// -1 undoes it.
void Inventory::count_load(const HeldJob& held, int sign) {
    for (const Held& part : held.parts)
        if (part.slot != kNoSlot && counts_load(held, part.slot))
            count_load(part.slot, held.amounts_of(part), sign);
}

void Inventory::set_started(JobSlot job, Instant started) {
    if (held_of(job) == nullptr) return;
    HeldJob& held = held_[held_place_[job] - 1];
    count_load(held, -1);
    held.started = started;
    count_load(held, 1);
    for (const VnodeSlot slot : held.vnodes) loads_.note(vnodes_[slot].host_number);
}

bool Inventory::is_loaded(VnodeSlot slot) const {
    const Vnode& vnode = vnodes_[slot];
    return vnode.busy ||
           (vnode.max_load_thousandths >= 0 && vnode.load_thousandths >= 0 &&
            vnode.load_thousandths + host_loads_[vnode.host_number].started >= vnode.max_load_thousandths);
}

std::int64_t Inventory::host_cpus(std::uint32_t host) const {
    std::int64_t cpus = 0;
    for (const VnodeSlot slot : on_host_[host])
        cpus += number_of(vnodes_[slot].available, columns_.known().ncpus).value_or(0);
    return cpus;
}

std::vector<Inventory::Start> Inventory::starts(std::uint32_t host, Instant after) const {
    std::vector<std::pair<JobSlot, std::int64_t>> cpus;  // the CPUs of each job on each vnode
    for (const VnodeSlot slot : on_host_[host])
        for (const JobSlot job : jobs_on(slot)) {
            const HeldJob& held = *held_of(job);
            if (held.started <= after) continue;
            std::int64_t here = 0;
            for_each_part_on(held, slot,
                             [&](const Held& part) { here += load_of(held.amounts_of(part)) / 1000; });
            cpus.emplace_back(job, here);
        }
    if (on_host_[host].size() > 1) std::ranges::sort(cpus);
    std::vector<Start> young;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        if (i > 0 && cpus[i].first == cpus[i - 1].first)
            young.back().cpus += cpus[i].second;
        else
            young.push_back({held_of(cpus[i].first)->started, cpus[i].second});
    }
    return young;
}

}  // namespace pbs::sched
