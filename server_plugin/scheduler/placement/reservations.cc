#include "server_plugin/scheduler/placement/reservations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::sched {

void Reservations::add(const Inventory& inventory, std::uint32_t id, Instant start,
                       const Placement& placement, const Request& request, const NodeSize& node_size,
                       std::span<const JobSlot> gone) {
    suspended_.resize(std::max<std::size_t>(suspended_.size(), id + 1), false);
    std::vector<Part> parts = placement.parts;
    std::ranges::stable_sort(parts, {}, &Part::vnode);
    Row kept;
    std::vector<JobSlot> gone_here;
    for (std::size_t first = 0, last = 0; first < parts.size(); first = last) {
        const VnodeSlot slot = parts[first].vnode;
        while (last < parts.size() && parts[last].vnode == slot) ++last;
        gone_here.clear();
        if (!gone.empty())
            std::ranges::copy_if(inventory.jobs_on(slot), std::back_inserter(gone_here),
                                 [&](JobSlot job) { return std::ranges::binary_search(gone, job); });
        Row over = inventory.free_without(slot, gone_here);
        for (const Part& part : std::span(parts).subspan(first, last - first)) {
            const Row& needs = inventory.columns().needs_of(placement, part, request, node_size, kept);
            for (std::uint32_t c = kFirstResourceColumn; c < over.size(); ++c)
                over[c] -= needs[c] * part.count;
        }
        inventory.enter(slot, request.sharing, over);
        reserved_[slot].push_back({id, start, std::move(over)});
    }
    std::vector<VnodeSlot> of_hosts;
    for (const Part& part : parts)
        if (inventory.sole(part.vnode, request.sharing) == Sole::host) of_hosts.push_back(part.vnode);
    inventory.widen_to_hosts(of_hosts);
    for (const VnodeSlot slot : of_hosts) {
        if (std::ranges::binary_search(parts, slot, {}, &Part::vnode)) continue;
        Row over = inventory.free_without(slot, {});
        inventory.enter(slot, request.sharing, over);
        reserved_[slot].push_back({id, start, std::move(over)});
    }
}

void Reservations::use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, Instant ends) {
    const auto found = reserved_.find(vnode);
    if (found == reserved_.end()) return;
    for (Reserved& reserved : found->second) {
        if (!binds(reserved, ends)) continue;
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
            reserved.over[c] -= sign * needs[c] * count;
    }
}

std::vector<VnodeSlot> Reservations::vnodes() const {
    std::vector<VnodeSlot> vnodes;
    for (const auto& [vnode, reservations] : reserved_) vnodes.push_back(vnode);
    return vnodes;
}

}  // namespace pbs::sched
