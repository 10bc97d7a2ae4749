#include "server_plugin/scheduler/framework/advance_reservations.h"

#include <algorithm>
#include <map>

#include "server_plugin/scheduler/future/kept_reservation.h"

namespace pbs::sched {
namespace {

// A job that has run for its walltime isn't expected to be gone at once.
Instant expected_end(const Tables& t, JobSlot job, Instant now) {
    const Instant end = t.jobs.end(job);
    return end <= now ? now + KeptReservation::kOverrun : end;
}

std::vector<Booking::Share> shares_of(const Tables& t, const Vnodes& vnodes,
                                      const AdvanceReservation& reservation) {
    std::map<VnodeSlot, Row> rows;
    for (const AdvanceReservation::Share& share : reservation.shares) {
        const VnodeSlot vnode = vnodes.find(share.vnode);
        if (vnode == kNoSlot || !t.vnodes[vnode].known) continue;
        Row& row = rows.try_emplace(vnode, Row(vnodes.columns().size(), 0)).first->second;
        for (const Need& need : share.amounts)
            if (const std::uint32_t column = vnodes.columns().of(need.resource); column != 0)
                row[column] += need.amount;
    }
    std::vector<Booking::Share> shares;
    shares.reserve(rows.size());
    for (auto& [vnode, row] : rows) shares.push_back({vnode, std::move(row)});
    return shares;
}

std::vector<Booking> bookings_from(Tables& t, const Vnodes& vnodes, Instant from,
                                   const AdvanceReservation* but) {
    std::vector<Booking> bookings;
    for (const auto& [handle, reservation] : t.reservations) {
        if (&reservation == but || reservation.shares.empty() || reservation.held_end <= from) continue;
        bookings.push_back({t.strings.id(reservation.id), t.queues.slot(reservation.queue),
                            reservation.held_start, reservation.held_end,
                            t.requests[reservation.request].exclusive, shares_of(t, vnodes, reservation)});
    }
    return bookings;
}

// A job in a reservation has its share of what that one has, and is gone at its end at the latest.
class JobsInBookings {
  public:
    JobsInBookings(const Tables& tables, const std::vector<Booking>& bookings) : t_(tables) {
        for (std::uint32_t b = 0; b < bookings.size(); ++b)
            of_queue_[bookings[b].queue] = {b, bookings[b].start};
    }
    bool is_gone(JobSlot job, Instant at, Instant now) const {
        const auto own = of_queue_.find(t_.jobs.queue[job]);
        if (own != of_queue_.end() && at >= own->second.second) return true;
        return expected_end(t_, job, now) <= at;
    }
    bool is_of(JobSlot job, std::uint32_t booking) const {
        const auto own = of_queue_.find(t_.jobs.queue[job]);
        return own != of_queue_.end() && own->second.first == booking;
    }
    bool is_in_one(JobSlot job) const { return of_queue_.contains(t_.jobs.queue[job]); }

  private:
    const Tables& t_;
    std::unordered_map<QueueSlot, std::pair<std::uint32_t, Instant>> of_queue_;
};

void book(Tables& t, Vnodes& vnodes, std::vector<Booking> bookings, Instant now) {
    const JobsInBookings jobs(t, bookings);
    vnodes.bookings().set(
        vnodes, std::move(bookings), now, [&](JobSlot job, Instant at) { return jobs.is_gone(job, at, now); },
        [&](JobSlot job, std::uint32_t booking) { return jobs.is_of(job, booking); });
}

// One reservation that is asked for.
class Answering {
  public:
    Answering(CycleContext& context, const Queues& queues, const AdvanceReservation& asked)
        : c_(context), t_(context.tables), vnodes_(*context.state.vnodes), queues_(queues), asked_(asked) {}

    ReservationAnswer answer(ReservationHandle handle);

  private:
    std::string time_refusal() const;
    bool is_same_request() const;

    CycleContext& c_;
    Tables& t_;
    Vnodes& vnodes_;
    const Queues& queues_;
    const AdvanceReservation& asked_;
};

// It is either wholly in dedicated time, or not at all.
std::string Answering::time_refusal() const {
    if (asked_.end <= c_.in.now || asked_.end <= asked_.start) return "its time is over";
    const auto dedicated = queues_.dedicated_time_from(0, std::max(asked_.start, c_.in.now));
    if (!dedicated || asked_.end <= dedicated->start) return {};
    if (dedicated->start <= asked_.start && asked_.end <= dedicated->end) return {};
    return "it would cross the boundary of dedicated time";
}

ReservationAnswer Answering::answer(ReservationHandle handle) {
    ReservationAnswer out{handle, asked_.request};
    out.why_not = time_refusal();
    if (!out.why_not.empty()) return out;
    const Request& request = t_.requests[asked_.request];
    if (!request.unsupported.empty()) {
        out.why_not = request.unsupported + " can't be scheduled here";
        return out;
    }
    const Instant now = c_.in.now;
    const Instant start = std::max(asked_.start, now);
    std::vector<Booking> others = bookings_from(t_, vnodes_, now, &asked_);
    const JobsInBookings jobs(t_, others);
    // The vnodes as they are at the start: what reservations have isn't held by jobs then, but booked.
    std::vector<JobSlot> gone;
    for (const auto& [job_handle, job] : t_.jobs.by_handle) {
        if (!is_running(t_.jobs.state[job])) continue;
        const bool own = t_.queues[t_.jobs.queue[job]].handle == asked_.queue;
        if (own || jobs.is_in_one(job) || expected_end(t_, job, now) <= start) gone.push_back(job);
    }
    Vnodes::Shares shares;
    const auto look_ahead = [&](int sign) {
        for (const JobSlot job : gone) {
            shares.clear();
            vnodes_.shares_held(job, shares);
            vnodes_.look_ahead(shares, sign);
        }
    };
    const PoolId pool =
        vnodes_.pool(asked_.queue, 0, c_.in.partition, chunks_by(t_, c_.settings), c_.node_keys());
    look_ahead(1);
    vnodes_.settle(pool);
    std::ranges::sort(gone);
    std::erase_if(
        others, [&](const Booking& booking) { return booking.end <= start || booking.start >= asked_.end; });
    vnodes_.bookings().set(
        vnodes_, std::move(others), start,
        [&](JobSlot job, Instant at) {
            return !std::ranges::binary_search(gone, job) && expected_end(t_, job, now) <= at;
        },
        [](JobSlot, std::uint32_t) { return false; });
    PlaceRules rules;
    rules.node_size = c_.vnode_share();
    rules.begins = start;
    rules.ends = asked_.end;
    std::vector<std::uint32_t> group;
    if (request.group != kNoResource) group.push_back(request.group);
    rules.groups = group;
    const SetRules sets{t_.resources, t_.requests.asks_for(t_.resources.known().mem), true};
    if (!vnodes_.find_in_sets(pool, request, rules, sets, out.placement))
        out.why_not = vnodes_.large_enough(pool, request, c_.vnode_share())
                          ? "the vnodes have too little that is free for all of its time"
                          : "the vnodes are too small for it, whatever runs";
    look_ahead(-1);
    vnodes_.settle(pool);
    return out;
}

}  // namespace

void book_reservations(Tables& tables, Vnodes& vnodes, Instant now) {
    if (tables.reservations.empty()) return vnodes.bookings().clear();
    book(tables, vnodes, bookings_from(tables, vnodes, now, nullptr), now);
}

std::vector<ReservationAnswer> answer_reservations(CycleContext& context, const Queues& queues) {
    std::vector<ReservationAnswer> answers;
    Tables& t = context.tables;
    Vnodes& vnodes = *context.state.vnodes;
    // What is confirmed counts for those behind it as if the host had told of it already.
    std::map<ReservationHandle, AdvanceReservation> before;
    for (auto& [handle, reservation] : t.reservations) {
        if (!reservation.asked) continue;
        const QueueSlot queue = t.queues.find(reservation.queue);
        if (queue == kNoSlot || t.queues[queue].partition != context.in.partition) continue;
        ReservationAnswer answer = Answering(context, queues, reservation).answer(handle);
        if (answer.why_not.empty()) {
            before.emplace(handle, reservation);
            reservation.shares.clear();
            for (const Part& part : answer.placement) {
                AdvanceReservation::Share share{vnodes[part.vnode].handle, {}};
                const auto needs = answer.placement.amounts_of(part, t.requests[reservation.request]);
                for (const Need& need : needs)
                    share.amounts.push_back({need.resource, need.amount * part.count});
                reservation.shares.push_back(std::move(share));
            }
            reservation.held_start = reservation.start;
            reservation.held_end = reservation.end;
        }
        answers.push_back(std::move(answer));
    }
    if (answers.empty()) return answers;
    book_reservations(t, vnodes, context.in.now);
    for (auto& [handle, reservation] : before) t.reservations[handle] = std::move(reservation);
    return answers;
}

}  // namespace pbs::sched
