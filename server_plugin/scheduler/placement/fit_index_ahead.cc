// The amounts at a later instant, kept from one look-ahead to the next.
//
// A look-ahead goes to the instant at which a job can start, and the next one mostly goes to nearly the same.
// So the later amounts stay, as differences from the present ones: jobs that start or end now change both
// alike, and the next look-ahead counts only the ends of jobs between the two instants.

#include "server_plugin/scheduler/placement/fit_index.h"

namespace pbs::sched {

void FitIndex::settle_ahead(Inventory& inventory, PoolId id) {
    if (!ahead_.entered) {
        update(inventory, id, looked_ahead_);
        looked_ahead_.clear();
        return;
    }
    bring_ahead_up_to_date(inventory);
    Ahead::Trees& trees = ahead_.trees.at(id);
    if (std::exchange(trees.as_now, false))
        fill(inventory, pools_[id]);
    else
        update(inventory, id, std::span(ahead_.changed).subspan(trees.seen));
    trees.seen = ahead_.changed.size();
}

std::span<const VnodeSlot> FitIndex::looked_ahead(Inventory& inventory) {
    if (!ahead_.entered) return looked_ahead_;
    bring_ahead_up_to_date(inventory);
    return std::span(ahead_.changed).subspan(ahead_.trees.at(ahead_.pool).seen);
}

std::uint64_t FitIndex::begin_ahead(Inventory& inventory) {
    settle(inventory);
    ahead_ = {};
    ahead_.version = inventory.version();
    ahead_.differences = inventory.no_amounts();
    ahead_.amounts = inventory.now_;
    ahead_.number = ++ahead_begun_;  // last: after a lack of memory, there are none
    return ahead_.number;
}

void FitIndex::change_ahead(const Inventory& inventory, std::span<const Inventory::Share> shares, int sign) {
    inventory.add(shares, sign, ahead_.outdated, ahead_.differences);
}

// Notes a vnode whose present amounts have changed. If no look-ahead comes for long, gives the later amounts
// up.
void FitIndex::note_outdated(VnodeSlot vnode) {
    ahead_.outdated.push_back(vnode);
    if (!ahead_.entered && ahead_.outdated.size() > 2 * in_pools_.size() + 1024) ahead_ = {};
}

void FitIndex::bring_ahead_up_to_date(Inventory& inventory) {
    const Inventory::Amounts& now = ahead_.entered ? ahead_.amounts : inventory.now_;
    Inventory::Amounts& later = ahead_.entered ? inventory.now_ : ahead_.amounts;
    for (const VnodeSlot vnode : ahead_.outdated) inventory.sum(vnode, now, ahead_.differences, later);
    ahead_.changed.insert(ahead_.changed.end(), ahead_.outdated.begin(), ahead_.outdated.end());
    ahead_.outdated.clear();
}

void FitIndex::swap_ahead(Inventory& inventory) {
    Ahead::Trees& trees = ahead_.trees.at(ahead_.pool);
    std::swap(inventory.now_, ahead_.amounts);
    std::swap(pools_[ahead_.pool].tree, trees.tree);
    std::swap(pools_[ahead_.pool].host_trees, trees.host_trees);
    ahead_.entered = !ahead_.entered;
}

void FitIndex::enter_ahead(Inventory& inventory, PoolId pool) {
    settle(inventory);
    bring_ahead_up_to_date(inventory);
    if (!ahead_.trees.contains(pool)) {
        Ahead::Trees trees;
        trees.tree = pools_[pool].tree;
        trees.host_trees = pools_[pool].host_trees;
        ahead_.trees.emplace(pool, std::move(trees));
    }
    ahead_.pool = pool;
    swap_ahead(inventory);
}

void FitIndex::leave_ahead(Inventory& inventory) {
    swap_ahead(inventory);
    if (ahead_.changed.size() <= 4 * in_pools_.size() + 1024) return;
    for (auto& [pool, trees] : ahead_.trees) {
        trees.as_now = trees.as_now || trees.seen < ahead_.changed.size();
        trees.seen = 0;
    }
    ahead_.changed.clear();
}

}  // namespace pbs::sched
