// The vnodes of the scheduler: what is free on them, the search for a place for a job, and reservations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/placement/bookings.h"
#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/place_search.h"
#include "server_plugin/scheduler/placement/placement_sets.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// The inventory with its index, reservations and bookings. It answers the questions that need more than one
// of them.
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
    // Does the vnode take jobs, and is it in the pool?
    bool is_open(PoolId pool, VnodeSlot vnode) const {
        return free(vnode)[kOpenColumn] != Columns::closed && is_of(pool, vnode);
    }
    // Does a running job hold anything on the vnodes of the pool?
    bool holds_in(PoolId pool, JobSlot job) const;

    // ---- Places.

    // Looks for a place, puts it into `out` (whose memory is used again) and leaves everything as it is.
    // Returns false if there is none.
    bool find(PoolId pool, const Request& request, const PlaceRules& rules, Placement& out) {
        return PlaceSearch({*this, index_, reservations_, bookings_, pool}, request, rules, search_, out)
            .run();
    }
    // Looks for a place in one placement set: in the smallest set that has one. A request that fits no set,
    // whatever runs, may be on vnodes of several sets, unless spanning is forbidden. If the request fits a
    // set but has no place, `last` becomes the name of the largest set that it fits.
    bool find_in_sets(PoolId pool, const Request& request, const PlaceRules& rules, const SetRules& asked,
                      Placement& out, std::string* last = nullptr);
    // The placement sets that contain all of these vnodes, each by vnode; for a request that fits no set, and
    // may span several, also the set of all vnodes.
    std::vector<std::vector<bool>> sets_with(PoolId pool, const Request& request, const PlaceRules& rules,
                                             const SetRules& asked, std::span<const VnodeSlot> vnodes);
    // Is there a place for the request?
    bool has_place(PoolId pool, const Request& request, const PlaceRules& rules) {
        return find(pool, request, rules, asked_);
    }
    // Is the whole placement free for a job that goes on there, on vnodes that take jobs and are in the pool?
    // O(parts).
    bool has_room(PoolId pool, const Request& request, const PlaceRules& rules, const Placement& placement);
    // Could the request be placed if nothing ran? (FitIndex::large_enough)
    bool large_enough(PoolId pool, const Request& request, const NodeSize& node_size) const {
        return index_.large_enough(*this, pool, request, node_size);
    }
    // Returns the resource for want of which the request can't be placed (FitIndex::shortage).
    Shortage shortage(PoolId pool, const Request& request, const NodeSize& node_size) {
        return index_.shortage(*this, pool, request, node_size);
    }
    // Returns the room of a vnode for a job that ends at `ends`, with what reservations leave of it.
    Room room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second, Instant ends) const;
    // Returns, where chunks are divided, the sum of room_until() over all open vnodes of the pool that are on
    // the host of this vnode. O(1), or O(vnodes) while there are reservations.
    Room host_room_until(PoolId pool, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                         Instant ends);
    // Returns the largest rooms of the pool (FitIndex::largest_rooms).
    std::vector<Room> largest_rooms(PoolId pool, std::uint32_t first, std::uint32_t second) {
        return index_.largest_rooms(*this, pool, first, second);
    }

    // ---- Looking ahead.

    // Gives shares back (sign 1) or takes them (sign -1). settle() updates the pool. Other pools aren't
    // updated until all shares are as they were.
    void look_ahead(std::span<const Share> shares, int sign) { index_.look_ahead(*this, shares, sign); }
    void settle(PoolId pool) { index_.settle_ahead(*this, pool); }
    // Do shares of this column of the vnode count in the pool's sums? They don't on a vnode on which no job
    // may start, nor on one that has less of the resource than jobs hold.
    bool counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const;
    // Returns the columns of a vnode that count, as a number. If the number changed after jobs started or
    // ended, counts() may have changed its answer.
    std::uint64_t counted_columns(VnodeSlot vnode) const;
    std::int64_t capacity(PoolId pool, std::uint32_t column) const;

    // ---- Reservations.

    // Keeps a placement from `start` on (Reservations::add).
    void reserve(std::uint32_t id, Instant start, const Placement& placement, const Request& request,
                 const NodeSize& node_size, std::span<const JobSlot> gone = {}) {
        reservations_.add(*this, id, start, placement, request, node_size, gone);
    }
    // Suspends a reservation when the scheduler looks past its start: its job holds the vnodes then, or has
    // ended.
    void suspend(std::uint32_t id, bool suspended) { reservations_.suspend(id, suspended); }
    void clear_reservations() { reservations_.clear(); }
    // Takes the placement of a job from what the reservations and the bookings that bind it leave over.
    void use_reserved(const Placement& placement, const Request& request, const PlaceRules& rules);
    // Takes the placement of a job (sign 1) from what bookings leave over, or gives it back (sign -1).
    void use_booked(const Placement& placement, const Request& request, const PlaceRules& rules, int sign);
    // The bookings of advance reservations.
    Bookings& bookings() { return bookings_; }
    const Bookings& bookings() const { return bookings_; }
    // Returns the vnodes on which there is a reservation.
    std::vector<VnodeSlot> reserved() const { return reservations_.vnodes(); }

  private:
    FitIndex index_;
    Reservations reservations_;
    Bookings bookings_;
    PlacementSets sets_;
    PlaceSearch::Memory search_;
    Placement asked_;
};

}  // namespace pbs::sched
