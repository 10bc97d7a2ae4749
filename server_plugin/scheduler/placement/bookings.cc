#include "server_plugin/scheduler/placement/bookings.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {

void Bookings::clear() {
    list_.clear();
    on_.clear();
}

void Bookings::set(const Inventory& inventory, std::vector<Booking> bookings, Instant from, const Gone& gone,
                   const IsOf& is_of) {
    clear();
    list_ = std::move(bookings);
    from_ = from;
    const std::uint32_t columns = inventory.columns().size();
    none_.assign(columns, 0);
    none_[kOpenColumn] = Columns::closed;
    for (std::uint32_t b = 0; b < list_.size(); ++b)
        for (const Booking::Share& share : list_[b].shares)
            on_[share.vnode].push_back(
                {b, std::max(from, list_[b].start), list_[b].end, {}, {}, share.needs});
    std::vector<JobSlot> jobs;
    const auto free_without = [&](VnodeSlot vnode, const auto& is_out) {
        jobs.clear();
        std::ranges::copy_if(inventory.jobs_on(vnode), std::back_inserter(jobs), is_out);
        return inventory.free_without(vnode, jobs);
    };
    for (auto& [vnode, all] : on_) {
        std::ranges::stable_sort(all, {}, &FreeSpan::at);
        std::vector<const FreeSpan*> there;  // bookings that exist at the instant of `one`
        for (auto one = all.begin(); one != all.end(); ++one) {
            std::erase_if(there, [&](const FreeSpan* other) { return other->end <= one->at; });
            there.push_back(&*one);
            one->over = free_without(vnode, [&](JobSlot job) { return gone(job, one->at); });
            const auto take = [&, on = vnode](const FreeSpan& other) {
                for (std::uint32_t c = kFirstResourceColumn; c < columns; ++c) one->over[c] -= other.needs[c];
                inventory.enter(on, list_[other.booking].sharing, one->over);
            };
            for (const FreeSpan* other : there) take(*other);
            for (auto other = one + 1; other != all.end() && other->at == one->at; ++other) take(*other);
        }
        there.clear();
        for (auto one = all.begin(); one != all.end(); ++one) {
            std::erase_if(there, [&](const FreeSpan* other) { return other->end <= one->at; });
            there.push_back(&*one);
            const Row without = free_without(vnode, [&](JobSlot job) { return is_of(job, one->booking); });
            const std::int64_t* const free = inventory.free(vnode);
            one->left.assign(columns, 0);
            one->left[kOpenColumn] = Columns::open;
            one->left[kEmptyColumn] = kEmpty;
            // If the booking hasn't requested a resource, its jobs may use what is free of the resource, like
            // all other jobs.
            for (std::uint32_t c = kFirstResourceColumn; c < columns; ++c)
                one->left[c] = one->needs[c] > 0 ? one->needs[c] - (without[c] - free[c]) : free[c];
            const auto leave = [&](const FreeSpan& other) {
                for (std::uint32_t c = kFirstResourceColumn; c < columns; ++c)
                    if (one->needs[c] <= 0) one->left[c] = std::min(one->left[c], other.over[c]);
            };
            for (const FreeSpan* other : there) leave(*other);
            for (auto other = one + 1; other != all.end() && other->at < one->end; ++other) leave(*other);
        }
    }
}

void Bookings::use(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign, const PlaceRules& rules) {
    if (list_.empty() || rules.without_bookings) return;
    const auto found = on_.find(vnode);
    if (found == on_.end()) return;
    const bool is_in_one = rules.booking != kNoSlot;
    for (FreeSpan& one : found->second) {
        if (one.at > from_ && one.at >= rules.hard_ends) break;  // the booking binds no job that starts now
        const bool own = one.booking == rules.booking;
        const bool binds = !is_in_one && one.at < rules.hard_ends && rules.begins < one.end;
        for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c) {
            const std::int64_t amount = sign * needs[c] * count;
            if (own || one.needs[c] == 0) one.left[c] -= amount;
            if (binds) one.over[c] -= amount;
        }
    }
}

const Booking* Bookings::first_between(Instant from, Instant until) const {
    const Booking* first = nullptr;
    for (const Booking& booking : list_)
        if (booking.start < until && from < booking.end && (first == nullptr || booking.start < first->start))
            first = &booking;
    return first;
}

Instant Bookings::next_end(Instant t) const {
    Instant next = Instant::max();
    for (const Booking& booking : list_)
        if (booking.end > t) next = std::min(next, booking.end);
    return next;
}

}  // namespace pbs::sched
