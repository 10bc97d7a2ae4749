#include "server_plugin/scheduler/placement/reservations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::sched {

// Returns the free amounts of a vnode at an instant, computed from the present ones: without the jobs that
// have ended by then, and with those of earlier reservations that hold the vnode then.
Row Reservations::free_at(const Inventory& inventory, VnodeSlot vnode, Instant start,
                          std::span<const JobSlot> gone) const {
    std::vector<JobSlot> gone_here;
    std::ranges::copy_if(inventory.jobs_on(vnode), std::back_inserter(gone_here),
                         [&](JobSlot job) { return std::ranges::binary_search(gone, job); });
    Row taken;
    std::int32_t come = 0;
    std::int32_t alone = 0;
    if (const auto found = reserved_.find(vnode); found != reserved_.end())
        for (const Reserved& earlier : found->second) {
            if (earlier.taken.empty() || earlier.start > start || earlier.end <= start) continue;
            taken.resize(earlier.taken.size(), 0);
            for (std::uint32_t c = kFirstResourceColumn; c < taken.size(); ++c) taken[c] += earlier.taken[c];
            ++come;
            alone += earlier.alone ? 1 : 0;
        }
    return inventory.free_with(vnode, gone_here, taken, come, alone);
}

void Reservations::add(const Inventory& inventory, std::uint32_t id, const rrule::Interval& when,
                       const Placement& placement, const Request& request, const NodeSize& node_size,
                       std::optional<std::span<const JobSlot>> gone) {
    suspended_.resize(std::max<std::size_t>(suspended_.size(), id + 1), false);
    std::vector<Part> parts = placement.parts;
    std::ranges::stable_sort(parts, {}, &Part::vnode);
    Row kept;
    for (std::size_t first = 0, last = 0; first < parts.size(); first = last) {
        const VnodeSlot slot = parts[first].vnode;
        while (last < parts.size() && parts[last].vnode == slot) ++last;
        Row over = gone ? free_at(inventory, slot, when.start, *gone) : inventory.free_without(slot, {});
        Row taken(over.size(), 0);
        for (const Part& part : std::span(parts).subspan(first, last - first)) {
            const Row& needs = inventory.columns().needs_of(placement, part, request, node_size, kept);
            for (std::uint32_t c = kFirstResourceColumn; c < over.size(); ++c)
                taken[c] += needs[c] * part.count;
        }
        for (std::uint32_t c = kFirstResourceColumn; c < over.size(); ++c) over[c] -= taken[c];
        inventory.enter(slot, request.sharing, over);
        const bool alone = inventory.sole(slot, request.sharing) != Sole::nothing;
        reserved_[slot].push_back({id, when.start, when.end, std::move(over), std::move(taken), alone});
    }
    std::vector<VnodeSlot> of_hosts;
    for (const Part& part : parts)
        if (inventory.sole(part.vnode, request.sharing) == Sole::host) of_hosts.push_back(part.vnode);
    inventory.widen_to_hosts(of_hosts);
    for (const VnodeSlot slot : of_hosts) {
        if (std::ranges::binary_search(parts, slot, {}, &Part::vnode)) continue;
        Row over = inventory.free_without(slot, {});
        inventory.enter(slot, request.sharing, over);
        reserved_[slot].push_back({id, when.start, when.end, std::move(over), {}, false});
    }
}

void Reservations::add_part(const Inventory& inventory, std::uint32_t id, const rrule::Interval& when,
                            const Part& part, const Request& request, const NodeSize& node_size, Row left) {
    suspended_.resize(std::max<std::size_t>(suspended_.size(), id + 1), false);
    Row taken = inventory.columns().needs_of(request.chunks[part.chunk], request.sharing, node_size);
    for (std::uint32_t c = kFirstResourceColumn; c < taken.size(); ++c) taken[c] *= part.count;
    const bool alone = inventory.sole(part.vnode, request.sharing) != Sole::nothing;
    reserved_[part.vnode].push_back({id, when.start, when.end, std::move(left), std::move(taken), alone});
}

void Reservations::use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, Instant ends,
                       Instant starts) {
    const auto found = reserved_.find(vnode);
    if (found == reserved_.end()) return;
    for (Reserved& reserved : found->second) {
        if (reserved.start <= starts || !binds(reserved, ends)) continue;
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
