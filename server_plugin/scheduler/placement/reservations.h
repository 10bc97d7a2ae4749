// Reservations: room on vnodes that is kept for jobs.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

// From its start on, a reservation keeps a placement for its job. It binds jobs that end later than its
// start: they may use only what the reservation leaves over of its vnodes.
class Reservations {
  public:
    bool empty() const { return reserved_.empty(); }

    // Keeps `placement` from `start` on. The caller makes the reservation while the vnodes are as they will
    // be at `start`, but for the running jobs `gone`, sorted by slot: these hold something on the vnodes now
    // and will have ended by `start`. Ids are 0, 1, and so on.
    void add(const Inventory& inventory, std::uint32_t id, Instant start, const Placement& placement,
             const Request& request, const NodeSize& node_size, std::span<const JobSlot> gone);
    // While it is suspended, a reservation binds no job.
    void suspend(std::uint32_t id, bool suspended) { suspended_[id] = suspended; }
    void clear() {
        reserved_.clear();
        suspended_.clear();
    }

    // Takes `count` times `needs` (sign 1), or gives it back (sign -1), for a job that ends at `ends`:
    // changes the room that each reservation that binds the job leaves over on the vnode.
    void use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, Instant ends);
    // Calls `visit` with a Row for each reservation of the vnode that binds a job that ends at `ends`: the
    // room that the reservation leaves over.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, Instant ends, Visit visit) const {
        if (reserved_.empty()) return;
        const auto found = reserved_.find(vnode);
        if (found == reserved_.end()) return;
        for (const Reserved& reserved : found->second)
            if (binds(reserved, ends)) visit(reserved.over);
    }
    // Returns the vnodes on which there is a reservation.
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
