// What is kept of vnodes, and for whom.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

// From its start on, a reservation keeps a placement for its job. It binds jobs that end later: of its vnodes
// they may use only what it leaves over.
class Reservations {
  public:
    bool empty() const { return reserved_.empty(); }

    // Keeps `placement` from `start` on. To be made while the vnodes are as they will be at `start`, apart
    // from the running jobs `gone`, in order, each of which holds something on these vnodes now and won't
    // then. `id`: 0, 1, ...
    void add(const Inventory& inventory, std::uint32_t id, Instant start, const Placement& placement,
             const Request& request, const NodeSize& node_size, std::span<const JobSlot> gone);
    // While it is suspended, a reservation binds nobody.
    void suspend(std::uint32_t id, bool suspended) { suspended_[id] = suspended; }
    void clear() {
        reserved_.clear();
        suspended_.clear();
    }

    // A job that ends then takes so much of a vnode (sign 1), or gives it back: what those that bind it leave
    // over becomes less, or more.
    void use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, Instant ends);
    // Calls `visit` with what is left over, a Row, by each reservation of a vnode that binds a job that ends
    // then.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, Instant ends, Visit visit) const {
        if (reserved_.empty()) return;
        const auto found = reserved_.find(vnode);
        if (found == reserved_.end()) return;
        for (const Reserved& reserved : found->second)
            if (binds(reserved, ends)) visit(reserved.over);
    }
    // The vnodes of which anything is reserved.
    std::vector<VnodeSlot> vnodes() const;

  private:
    struct Reserved {
        std::uint32_t id = 0;
        Instant start{};
        Row over;
    };
    bool binds(const Reserved& reserved, Instant ends) const {
        return ends > reserved.start && !suspended_[reserved.id];
    }

    std::unordered_map<VnodeSlot, std::vector<Reserved>> reserved_;
    std::vector<bool> suspended_;  // by id
};

}  // namespace pbs::sched
