// The scheduler's vnodes: their free amounts, the search for a place for a job, and reservations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/placement/bookings.h"
#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/place_search.h"
#include "server_plugin/scheduler/placement/placement_sets.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// The vnodes (Inventory) with an index for searches, reservations for waiting jobs, and bookings for advance
// reservations. Answers queries that need several of these.
class Vnodes : public Inventory {
  public:
    using Room = Columns::Room;
    using Shortage = sched::Shortage;

    using Inventory::find;
    using Inventory::Inventory;

    // ---- Pools. An id is valid until version() grows, that is, until anything but the load of a vnode
    // changes.

    // The vnodes that a queue may use (FitIndex::pool).
    PoolId pool(QueueHandle queue, std::uint32_t host, std::uint32_t partition, Chunks chunks = Chunks::whole,
                const NodeKeys& order = {}) {
        return index_.pool(*this, queue, host, partition, chunks, order);
    }
    std::span<const VnodeSlot> pool_vnodes(PoolId pool) const { return index_[pool].vnodes; }
    bool is_of(PoolId pool, VnodeSlot vnode) const { return index_.is_of(*this, pool, vnode); }
    // Returns whether the vnode takes jobs, and is in the pool.
    bool is_open(PoolId pool, VnodeSlot vnode) const {
        return free(vnode)[kOpenColumn] != Columns::closed && is_of(pool, vnode);
    }
    // Returns whether a running job holds anything on the vnodes of the pool.
    bool holds_in(PoolId pool, JobSlot job) const;

    // ---- Places.

    // Searches a place and writes it to `out`, whose memory is reused; changes nothing else. Returns false if
    // there is none.
    bool find(PoolId pool, const Request& request, const PlaceRules& rules, Placement& out);
    // Searches a place in one placement set, the smallest that has one. A request that fits into no set, even
    // if nothing runs, may use several sets, unless that is forbidden. `name` gets the name of the set that
    // has the place; or, if the request fits into a set but has no place, that of the largest set into which
    // it fits.
    bool find_in_sets(PoolId pool, const Request& request, const PlaceRules& rules, const SetRules& asked,
                      Placement& out, std::string* name = nullptr);
    // Returns the names of the placement sets in which there may be a place, the smallest first; if there are
    // more than 64, those of the largest 64.
    std::vector<std::string> names_of_sets(PoolId pool, const Request& request, const PlaceRules& rules,
                                           const SetRules& asked);
    // Returns the placement sets that contain all of these vnodes, each as a list by vnode. If the request
    // fits into no set and may use several, the set of all vnodes is one of them.
    std::vector<std::vector<bool>> sets_with(PoolId pool, const Request& request, const PlaceRules& rules,
                                             const SetRules& asked, std::span<const VnodeSlot> vnodes);
    // Returns whether there is a place for the request.
    bool has_place(PoolId pool, const Request& request, PlaceRules rules) {
        rules.prefers = false;
        return find(pool, request, rules, asked_);
    }
    // Returns whether the whole placement is free for a job that is resumed there. The vnodes have to take
    // jobs and be in the pool. O(parts).
    bool has_room(PoolId pool, const Request& request, const PlaceRules& rules, const Placement& placement) {
        return !placement.empty() && !obstacle(pool, request, rules, placement) &&
               (rules.rule == nullptr || rules.rule->allows(placement));
    }
    // A vnode of a placement that a job can't have, and the reason.
    struct Obstacle {
        enum class Cause : std::uint8_t { closed, rules, shared, kept, amount };
        VnodeSlot vnode = 0;
        Cause why = Cause::closed;
        std::uint32_t resource = kNoResource;  // for an amount: what is asked for of the vnode, and free
        std::int64_t asked = 0;
        std::int64_t free = 0;
    };
    // Returns the first obstacle; nullopt: the placement is free, as far as PlaceRules::rule isn't concerned.
    std::optional<Obstacle> obstacle(PoolId pool, const Request& request, const PlaceRules& rules,
                                     const Placement& placement) const;
    // Returns whether the request could be placed if nothing ran (FitIndex::large_enough).
    bool large_enough(PoolId pool, const Request& request, const NodeSize& node_size) const {
        return index_.large_enough(*this, pool, request, node_size);
    }
    // Returns the resource that is missing for the request (FitIndex::shortage).
    Shortage shortage(PoolId pool, const Request& request, const NodeSize& node_size,
                      std::span<const std::uint32_t> reserved = {}) {
        return index_.shortage(*this, pool, request, node_size, reserved);
    }
    // Returns the free amounts of a vnode for a job that ends at `ends`, less the amounts of reservations.
    Room room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second, Instant ends) const;
    // If chunks are divided: returns the sum of room_until() over all open vnodes of the pool on the host of
    // this vnode. O(1), or O(vnodes) if there are reservations.
    Room host_room_until(PoolId pool, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                         Instant ends);
    // Returns the largest pairs of free amounts in the pool (FitIndex::largest_rooms).
    std::vector<Room> largest_rooms(PoolId pool, std::uint32_t first, std::uint32_t second) {
        return index_.largest_rooms(*this, pool, first, second);
    }

    // ---- Looking ahead.

    // In a look-ahead, adds shares of vnodes to their free amounts (sign 1) or subtracts them (sign -1).
    // settle() then updates one pool. The other pools can't be used until all shares are as before.
    void look_ahead(std::span<const Share> shares, int sign) { index_.look_ahead(*this, shares, sign); }
    void settle(PoolId pool) { index_.settle_ahead(*this, pool); }
    // Returns the vnodes that look_ahead() has changed since the last settle(), some of them several times.
    std::span<const VnodeSlot> not_settled() { return index_.looked_ahead(*this); }
    // Returns whether the order of the pool's vnodes changes as jobs start and end.
    bool moves(PoolId pool) const { return index_[pool].moves(); }
    // The amounts at a later instant, which stay from one look-ahead to the next (FitIndex::begin_ahead()).
    std::uint64_t begin_ahead() { return index_.begin_ahead(*this); }
    bool has_ahead(std::uint64_t number) { return index_.has_ahead(*this, number); }
    void change_ahead(std::span<const Share> shares, int sign) { index_.change_ahead(*this, shares, sign); }
    void enter_ahead(PoolId pool) { index_.enter_ahead(*this, pool); }
    void leave_ahead() { index_.leave_ahead(*this); }
    // Returns whether several vnodes of a host may give pieces of a chunk in this pool.
    bool divides(PoolId pool) const { return !index_[pool].host_trees.empty(); }
    // Returns whether shares in this column of the vnode count in the pool's sums. They don't if no job may
    // start on the vnode, or if it has less of the resource than jobs hold.
    bool counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const;
    // Returns a number that stands for the columns of a vnode that count in the sums of pools. If it has
    // changed after jobs started or ended, the result of counts() may have changed.
    std::uint64_t counted_columns(VnodeSlot vnode) const;
    std::int64_t capacity(PoolId pool, std::uint32_t column) const;

    // ---- Reservations.

    // Reserves a placement (Reservations::add).
    void reserve(std::uint32_t id, const rrule::Interval& when, const Placement& placement,
                 const Request& request, const NodeSize& node_size,
                 std::optional<std::span<const JobSlot>> gone = std::nullopt) {
        reservations_.add(*this, id, when, placement, request, node_size, gone);
    }
    // Reserves a part of a placement, if the amounts are known that are left on its vnode at the start.
    void reserve_part(std::uint32_t id, const rrule::Interval& when, const Part& part, const Request& request,
                      const NodeSize& node_size, Row left) {
        reservations_.add_part(*this, id, when, part, request, node_size, std::move(left));
    }
    // Suspends a reservation, because the look-ahead has reached its start: its job then holds the vnodes, or
    // has ended.
    void suspend(std::uint32_t id, bool suspended) { reservations_.suspend(id, suspended); }
    void clear_reservations() { reservations_.clear(); }
    // Take all reservations away, to put them back in a later cycle in which nothing else is reserved.
    Reservations take_reservations() { return std::exchange(reservations_, {}); }
    void put_back(Reservations reservations) { reservations_ = std::move(reservations); }
    // Calls `visit` with a Row for each reservation on the vnode that binds a job that ends at `ends`: the
    // amounts that the reservation leaves.
    template <class Visit>
    void for_each_reservation(VnodeSlot vnode, Instant ends, const Visit& visit) const {
        reservations_.for_each_binding(vnode, ends, visit);
    }
    // Takes a job's placement from the amounts that the reservations and bookings that bind it leave (sign
    // 1), or gives it back (sign -1). `starts`: reservations that start by then don't bind it.
    void use_reserved(const Placement& placement, const Request& request, const PlaceRules& rules,
                      int sign = 1, Instant starts = Instant::min());
    // Takes a job's placement from the amounts that bookings leave (sign 1), or gives it back (sign -1).
    void use_booked(const Placement& placement, const Request& request, const PlaceRules& rules, int sign);
    // The bookings of advance reservations.
    Bookings& bookings() { return bookings_; }
    const Bookings& bookings() const { return bookings_; }
    // Returns the vnodes with reservations.
    std::vector<VnodeSlot> reserved() const { return reservations_.vnodes(); }

  private:
    FitIndex index_;
    Reservations reservations_;
    Bookings bookings_;
    PlacementSets sets_;
    PlaceSearch::Memory search_;
    Placement asked_;
    Placement preferred_;
};

}  // namespace pbs::sched
