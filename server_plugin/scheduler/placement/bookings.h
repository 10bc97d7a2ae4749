// Bookings: shares of vnodes for advance reservations, each for a span of time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {

// A booking: the shares of vnodes that an advance reservation has for a span of time. It has them whether or
// not its own jobs use them.
//
// A job outside of bookings may use what all bookings leave free as long as it runs. A job in a booking may
// use the booking's shares, less the use by other jobs of the booking.
//
// The free amounts for a job that starts now shrink only when bookings begin, since other jobs only end. So
// each vnode has its free amounts at the instants at which its bookings begin.
struct Booking {
    // All of a booking's share of a vnode.
    struct Share {
        VnodeSlot vnode = 0;
        Row needs;
    };
    std::uint32_t name = 0;  // the number of its id in the Interner
    QueueSlot queue = kNoSlot;
    Instant start{};
    Instant end{};
    AskedSharing sharing = AskedSharing::unsaid;
    std::vector<Share> shares{};
    bool is_at(Instant t) const { return start <= t && t < end; }
};

class Bookings {
  public:
    // Returns whether a running job holds nothing of its vnodes any more at this instant, apart from the
    // shares of its own booking.
    using Gone = std::function<bool(JobSlot job, Instant at)>;
    // Returns whether the running job is in this booking.
    using IsOf = std::function<bool(JobSlot job, std::uint32_t booking)>;

    bool empty() const { return list_.empty(); }
    const std::vector<Booking>& list() const { return list_; }

    // Sets the bookings for queries from the instant `from` on. REQUIRES: the inventory is in its state at
    // that instant. O(bookings of a vnode times its jobs and the bookings at the same time).
    void set(const Inventory& inventory, std::vector<Booking> bookings, Instant from, const Gone& gone,
             const IsOf& is_of);
    void clear();

    // Calls `visit` with a Row for each instant that matters to a job with the rules: the amounts on the
    // vnode that bookings leave for the job.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, const PlaceRules& rules, Visit visit) const {
        if (list_.empty() || rules.without_bookings) return;
        const auto found = on_.find(vnode);
        if (rules.booking != kNoSlot) {
            const FreeSpan* own = found == on_.end() ? nullptr : of_booking(found->second, rules.booking);
            return visit(own != nullptr ? own->left : none_);
        }
        if (found == on_.end()) return;
        for (const FreeSpan& one : found->second) {
            if (one.at >= rules.hard_ends) break;
            if (rules.begins < one.end) visit(one.over);
        }
    }
    // Takes `count` times `needs` from the amounts that bookings leave on a vnode, for a job with the rules
    // (sign 1), or gives it back (sign -1).
    void use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, const PlaceRules& rules);

    // The booking that begins first among those that overlap `from` to `until`; null: there is none.
    const Booking* first_between(Instant from, Instant until) const;
    // The first instant after t at which a booking ends; Instant::max(): none ends.
    Instant next_end(Instant t) const;

  private:
    // The free amounts on a vnode when one of its bookings begins.
    struct FreeSpan {
        std::uint32_t booking = 0;
        Instant at{};
        Instant end{};
        Row over;   // the amounts that all bookings leave for others
        Row left;   // the amounts that the booking has for its own jobs
        Row needs;  // all of the booking's share of the vnode
    };
    static const FreeSpan* of_booking(const std::vector<FreeSpan>& all, std::uint32_t booking) {
        for (const FreeSpan& one : all)
            if (one.booking == booking) return &one;
        return nullptr;
    }

    std::vector<Booking> list_;
    Instant from_{};
    std::unordered_map<VnodeSlot, std::vector<FreeSpan>> on_;  // by vnode, in the order of `at`
    Row none_;                                                 // the row of a vnode that takes no jobs
};

}  // namespace pbs::sched
