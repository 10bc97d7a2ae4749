// Reservations: amounts of vnodes that a cycle keeps free for waiting jobs, from their expected starts on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "rrule/window.h"
#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

// The reservations of one cycle. A reservation keeps a placement for a waiting job, from an expected start
// on. It binds other jobs that end after this start: they may use only what it leaves free on its vnodes.
class Reservations {
  public:
    bool empty() const { return reserved_.empty(); }

    // Reserves `placement` for `when`. `gone`: the vnodes are in their present state; these running jobs,
    // sorted by slot, hold amounts now and will have ended by the start. nullopt: the vnodes are in their
    // state at the start. Ids are 0, 1, and so on.
    void add(const Inventory& inventory, std::uint32_t id, const rrule::Interval& when,
             const Placement& placement, const Request& request, const NodeSize& node_size,
             std::optional<std::span<const JobSlot>> gone);
    // Reserves a part that is the only one of its placement on its vnode. `left`: the amounts and flags of
    // the vnode at the start, as the reservation leaves them. Whole hosts aren't reserved.
    void add_part(const Inventory& inventory, std::uint32_t id, const rrule::Interval& when, const Part& part,
                  const Request& request, const NodeSize& node_size, Row left);
    // Suspends a reservation, so that it binds no jobs, or lets it bind them again (`suspended` false).
    void suspend(std::uint32_t id, bool suspended) { suspended_[id] = suspended; }
    void clear() {
        reserved_.clear();
        suspended_.clear();
    }

    // Updates the amounts that reservations leave on a vnode, if they start after `starts` and bind a job
    // that ends at `ends`: takes `count` times `needs` (sign 1), or gives it back (sign -1).
    void use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, Instant ends,
             Instant starts = Instant::min());
    // Calls `visit` with a Row for each reservation on the vnode that binds a job that ends at `ends`: the
    // amounts that the reservation leaves.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, Instant ends, Visit visit) const {
        if (reserved_.empty()) return;
        const auto found = reserved_.find(vnode);
        if (found == reserved_.end()) return;
        for (const Reserved& reserved : found->second)
            if (binds(reserved, ends)) visit(reserved.over);
    }
    // Returns the vnodes with reservations.
    std::vector<VnodeSlot> vnodes() const;

  private:
    struct Reserved {
        std::uint32_t id = 0;
        Instant start{};
        Instant end{};
        Row over;
        Row taken;           // the amounts that the reservation takes itself; empty: nothing
        bool alone = false;  // the job will have the vnode exclusively
    };
    Row free_at(const Inventory& inventory, VnodeSlot vnode, Instant start,
                std::span<const JobSlot> gone) const;
    bool binds(const Reserved& reserved, Instant ends) const {
        return ends > reserved.start && !suspended_[reserved.id];
    }

    std::unordered_map<VnodeSlot, std::vector<Reserved>> reserved_;
    std::vector<bool> suspended_;  // by id
};

}  // namespace pbs::sched
