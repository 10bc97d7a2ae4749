// The vnodes with what is free on them, the search for a place for a job, and what is kept for others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/place_search.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// The inventory with an index over it and reservations on it: what is asked of more than one of them.
class Vnodes : public Inventory {
  public:
    using Room = Columns::Room;
    using Shortage = sched::Shortage;

    using Inventory::find;
    using Inventory::Inventory;

    // ---- Pools. An id is valid until version() grows, that is, until a vnode changes other than in its
    // load.

    // The vnodes that a queue may use (FitIndex::pool).
    PoolId pool(QueueHandle queue, std::uint32_t host, std::uint32_t partition, Chunks chunks = Chunks::whole,
                const NodeKeys& order = {}) {
        return index_.pool(*this, queue, host, partition, chunks, order);
    }
    std::span<const VnodeSlot> pool_vnodes(PoolId pool) const { return index_[pool].vnodes; }
    bool is_of(PoolId pool, VnodeSlot vnode) const { return index_.is_of(*this, pool, vnode); }
    // Does it take jobs, and is it of the pool?
    bool is_open(PoolId pool, VnodeSlot vnode) const {
        return free(vnode)[open_column] != Columns::closed && is_of(pool, vnode);
    }
    // Has a running job anything of the pool?
    bool holds_in(PoolId pool, JobSlot job) const;

    // ---- Places.

    // Looks for a place, which is put into `out` (its memory is used again); leaves everything as it is.
    // False: there is none.
    bool find(PoolId pool, const Request& request, const PlaceRules& rules, Placement& out) {
        return PlaceSearch({*this, index_, reservations_, pool}, request, rules, search_, out).run();
    }
    // Is there one?
    bool has_place(PoolId pool, const Request& request, const PlaceRules& rules) {
        return find(pool, request, rules, asked_);
    }
    // Could it be placed if nothing ran? (FitIndex::large_enough)
    bool large_enough(PoolId pool, const Request& request, const NodeSize& node_size) const {
        return index_.large_enough(*this, pool, request, node_size);
    }
    // What keeps it from a place? (FitIndex::shortage)
    Shortage shortage(PoolId pool, const Request& request, const NodeSize& node_size) {
        return index_.shortage(*this, pool, request, node_size);
    }
    // What reservations leave of a vnode to a job that ends then.
    Room room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second, Instant ends) const;
    // For chunks that are divided: the same of all open vnodes of the pool that share the host of this one
    // together. O(1); O(vnodes) while there are reservations.
    Room host_room_until(PoolId pool, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                         Instant ends);
    // The vnodes of a pool with most of both (FitIndex::largest_rooms).
    std::vector<Room> largest_rooms(PoolId pool, std::uint32_t first, std::uint32_t second) {
        return index_.largest_rooms(*this, pool, first, second);
    }

    // ---- Looking ahead.

    // Shares are given back (sign 1) and taken (-1). After settle() the pool tells of it; others don't until
    // all is as it was.
    void look_ahead(std::span<const Share> shares, int sign) { index_.look_ahead(*this, shares, sign); }
    void settle(PoolId pool) { index_.settle_ahead(*this, pool); }
    // Do shares of the column count for what the pool has in all? Not those of vnodes that no job may start
    // on, nor those that have less than is held of them.
    bool counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const;
    // Which columns of a vnode count, as a number: another one after jobs started or ended means that
    // counts() may say something else.
    std::uint64_t counted_columns(VnodeSlot vnode) const;
    std::int64_t capacity(PoolId pool, std::uint32_t column) const;

    // ---- Reservations.

    // Keeps a placement from `start` on (Reservations::add).
    void reserve(std::uint32_t id, Instant start, const Placement& placement, const Request& request,
                 const NodeSize& node_size, std::span<const JobSlot> gone = {}) {
        reservations_.add(*this, id, start, placement, request, node_size, gone);
    }
    // When looking past its start, a reservation doesn't bind anybody: its job holds the vnodes, or has
    // ended.
    void suspend(std::uint32_t id, bool suspended) { reservations_.suspend(id, suspended); }
    void clear_reservations() { reservations_.clear(); }
    // A job that was placed and ends after a reservation's start uses up what was over; one that isn't
    // suspended.
    void use_reserved(const Placement& placement, const Request& request, const NodeSize& node_size,
                      Instant ends);
    // The vnodes with reservations.
    std::vector<VnodeSlot> reserved() const { return reservations_.vnodes(); }

  private:
    FitIndex index_;
    Reservations reservations_;
    PlaceSearch::Memory search_;
    Placement asked_;
};

}  // namespace pbs::sched
