#include "server_plugin/scheduler/framework/advance_reservations.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "server_plugin/scheduler/future/kept_reservation.h"

namespace pbs::sched {
namespace {

// Returns the instant by which the cycle expects a running job to have ended. For a job that has overrun its
// walltime, this is kOverrun from now.
Instant expected_end(const Tables& t, JobSlot job, const CycleState& at) {
    const Instant end = std::max(t.jobs.hard_end(job) + at.planning.offset, at.planned_end(job));
    return end <= at.now ? at.now + KeptReservation::kOverrun : end;
}

std::vector<Booking::Share> shares_of(const Tables& t, const Vnodes& vnodes,
                                      const std::vector<AdvanceReservation::Share>& held) {
    std::map<VnodeSlot, Row> rows;
    for (const AdvanceReservation::Share& share : held) {
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

// Returns the bookings of all reservations except `but`, without bookings that end by `from`. The bookings of
// one reservation are in the order of its occurrences.
std::vector<Booking> bookings_from(Tables& t, const Vnodes& vnodes, Instant from,
                                   const AdvanceReservation* but) {
    std::vector<Booking> bookings;
    for (const auto& known : t.reservations) {
        const AdvanceReservation& reservation = known.second;
        if (&reservation == but) continue;
        const auto add = [&](Instant start, Instant end, std::uint32_t request,
                             const std::vector<AdvanceReservation::Share>& shares) {
            if (shares.empty() || end <= from) return;
            bookings.push_back({t.strings.id(reservation.id), t.queues.slot(reservation.queue), start, end,
                                t.requests[request].sharing, shares_of(t, vnodes, shares)});
        };
        add(reservation.held_start, reservation.held_end, reservation.request, reservation.shares);
        for (const AdvanceReservation::Occurrence& one : reservation.later)
            add(one.start, one.end, reservation.later_request, one.shares);
    }
    return bookings;
}

// Knows which running jobs are in an advance reservation. Such a job uses its reservation's booking, and ends
// with it at the latest.
class JobsInBookings {
  public:
    JobsInBookings(const Tables& tables, const CycleState& state, const std::vector<Booking>& bookings)
        : t_(tables), state_(state) {
        // Running jobs of a standing reservation are in its first booking.
        for (std::uint32_t b = 0; b < bookings.size(); ++b)
            of_queue_.try_emplace(bookings[b].queue, b, bookings[b].start);
    }
    bool is_gone(JobSlot job, Instant at) const {
        const auto own = of_queue_.find(t_.jobs.queue[job]);
        if (own != of_queue_.end() && at >= own->second.second) return true;
        return expected_end(t_, job, state_) <= at;
    }
    bool is_of(JobSlot job, std::uint32_t booking) const {
        const auto own = of_queue_.find(t_.jobs.queue[job]);
        return own != of_queue_.end() && own->second.first == booking;
    }
    bool is_in_one(JobSlot job) const { return of_queue_.contains(t_.jobs.queue[job]); }

  private:
    const Tables& t_;
    const CycleState& state_;
    std::unordered_map<QueueSlot, std::pair<std::uint32_t, Instant>> of_queue_;
};

void book(Tables& t, Vnodes& vnodes, std::vector<Booking> bookings, const CycleState& state) {
    const JobsInBookings jobs(t, state, bookings);
    vnodes.bookings().set(
        vnodes, std::move(bookings), state.now,
        [&](JobSlot job, Instant at) { return jobs.is_gone(job, at); },
        [&](JobSlot job, std::uint32_t booking) { return jobs.is_of(job, booking); });
}

// Takes jobs off the vnodes as they end, for the state of the vnodes at later and later instants. The
// destructor puts them back.
class VnodesAhead {
  public:
    // Running jobs for which `is_gone` returns true count as ended from the first go_to() on. The caller
    // calls Vnodes::settle() after each go_to().
    VnodesAhead(const Tables& tables, Vnodes& vnodes, const CycleState& state, const auto& is_gone)
        : t_(tables), vnodes_(vnodes) {
        t_.jobs.for_each([&](JobSlot job) {
            if (is_running(t_.jobs.state[job]))
                ends_.emplace_back(is_gone(job) ? Instant::min() : expected_end(t_, job, state), job);
        });
        std::ranges::sort(ends_);
    }
    ~VnodesAhead() {
        for (std::size_t i = 0; i < gone_; ++i) look_ahead(ends_[i].second, -1);
    }
    VnodesAhead(const VnodesAhead&) = delete;
    VnodesAhead& operator=(const VnodesAhead&) = delete;

    // Takes off the jobs that have ended by `at`. REQUIRES: `at` isn't earlier than in the last call.
    void go_to(Instant at) {
        for (; gone_ < ends_.size() && ends_[gone_].first <= at; ++gone_) look_ahead(ends_[gone_].second, 1);
        at_ = at;
    }
    bool is_gone(JobSlot job) const { return by_job_of(job) <= at_; }

  private:
    Instant by_job_of(JobSlot job) const {
        if (by_job_.empty())
            for (const auto& [end, one] : ends_) by_job_.emplace(one, end);
        const auto found = by_job_.find(job);
        return found == by_job_.end() ? Instant::max() : found->second;
    }
    void look_ahead(JobSlot job, int sign) {
        shares_.clear();
        vnodes_.shares_held(job, shares_);
        vnodes_.look_ahead(shares_, sign);
    }

    const Tables& t_;
    Vnodes& vnodes_;
    std::vector<std::pair<Instant, JobSlot>> ends_;
    mutable std::unordered_map<JobSlot, Instant> by_job_;
    std::size_t gone_ = 0;
    Instant at_ = Instant::min();
    Vnodes::Shares shares_;
};

// Works out the answer to one requested reservation.
class Answering {
  public:
    Answering(CycleContext& context, const Queues& queues, const AdvanceReservation& asked)
        : c_(context), t_(context.tables), vnodes_(*context.state.vnodes), queues_(queues), asked_(asked) {
        if (!asked.keeps_first) times_.push_back({asked.start, asked.end, asked.request});
        t_.jobs.for_each([&](JobSlot job) {
            if (is_running(t_.jobs.state[job]) && t_.queues[t_.jobs.queue[job]].handle == asked.queue)
                jobs_.push_back(job);
        });
        for (const AdvanceReservation::Occurrence& one : asked.later)
            if (one.asked) times_.push_back({one.start, one.end, asked.later_request});
    }

    ReservationAnswer answer(ReservationHandle handle);

  private:
    struct Time {
        Instant start{};
        Instant end{};
        std::uint32_t request = 0;  // its number in Requests
    };
    std::string time_refusal(const Time& time) const;
    std::vector<Instant> instants(const std::vector<Booking>& others) const;
    void place_all(const std::vector<Booking>& others, VnodesAhead& ahead, PoolId pool,
                   ReservationAnswer& out) const;
    std::string place(const Time& time, const std::vector<Booking>& others, const VnodesAhead& ahead,
                      PoolId pool, Placement& out) const;
    PlaceRules rules_for(const Time& time) const;
    SetRules set_rules() const;
    void book(std::vector<Booking> bookings, Instant start, const VnodesAhead& ahead) const;
    bool keep(const Time& time, const std::vector<Booking>& beside, const VnodesAhead& ahead, PoolId pool,
              Placement& out) const;
    bool has_lost_vnodes(PoolId pool) const;
    bool replace(const Time& time, std::vector<Booking> beside, const VnodesAhead& ahead, PoolId pool,
                 Placement& out) const;
    bool replace_within(const std::vector<bool>& set, const Request& request, const PlaceRules& rules,
                        PoolId pool, Placement& out) const;
    bool covers_jobs(const Placement& placement) const;  // `placement`: the places of the first occurrence

    CycleContext& c_;
    Tables& t_;
    Vnodes& vnodes_;
    const Queues& queues_;
    const AdvanceReservation& asked_;
    std::vector<Time> times_;    // the times to decide about, in order
    std::vector<JobSlot> jobs_;  // jobs that run in the reservation
};

// Returns why the reservation can't have the time: it is over, or only a part of it is dedicated time. Empty:
// nothing forbids the time.
std::string Answering::time_refusal(const Time& time) const {
    const auto& [start, end, request] = time;
    if (end <= c_.in.now || end <= start) return "its time is over";
    const auto dedicated = queues_.dedicated_time_from(0, std::max(start, c_.in.now));
    if (!dedicated || end <= dedicated->start) return {};
    if (dedicated->start <= start && end <= dedicated->end) return {};
    return "it would cross the boundary of dedicated time";
}

PlaceRules Answering::rules_for(const Time& time) const {
    PlaceRules rules;
    rules.node_size = c_.vnode_share();
    rules.reserved = c_.state.reserved_resources;
    const Settings& s = c_.settings;
    rules.spreads = s.algorithm == Algorithm::standard;
    rules.order = s.chunk_order;
    rules.prefers = s.preferences;
    rules.request = &t_.requests[time.request];
    rules.begins = std::max(time.start, c_.in.now);
    rules.ends = time.end;
    rules.hard_ends = time.end;
    return rules;
}

SetRules Answering::set_rules() const {
    const Settings& s = c_.settings;
    return {t_.resources, t_.requests.asks_for(t_.resources.known().mem), true, !s.do_not_span_psets,
            s.only_explicit_psets};
}

void Answering::book(std::vector<Booking> bookings, Instant start, const VnodesAhead& ahead) const {
    vnodes_.bookings().set(
        vnodes_, std::move(bookings), start,
        [&](JobSlot job, Instant at) { return !ahead.is_gone(job) && expected_end(t_, job, c_.state) <= at; },
        [](JobSlot, std::uint32_t) { return false; });
}

// Returns whether the placement has, on each vnode, the amounts of the requested resources that the
// reservation's running jobs use there.
bool Answering::covers_jobs(const Placement& placement) const {
    const Request& request = t_.requests[asked_.request];
    std::map<std::pair<VnodeHandle, std::uint32_t>, std::int64_t> left;
    std::set<std::uint32_t> asked_for;
    for (const Part& part : placement)
        for (const Need& need : placement.amounts_of(part, request)) {
            asked_for.insert(need.resource);
            left[{vnodes_[part.vnode].handle, need.resource}] += need.amount * part.count;
        }
    for (const JobSlot job : jobs_)
        vnodes_.for_each_held(job, [&](VnodeHandle vnode, std::span<const Need> amounts) {
            for (const Need& need : amounts)
                if (asked_for.contains(need.resource)) left[{vnode, need.resource}] -= need.amount;
        });
    return std::ranges::none_of(left, [](const auto& one) { return one.second < 0; });
}

// Returns whether the reservation can keep its vnodes for all of the time, beside the other bookings. Its new
// placement is in `out`. Looks on the vnodes of its running jobs first.
bool Answering::keep(const Time& time, const std::vector<Booking>& beside, const VnodesAhead& ahead,
                     PoolId pool, Placement& out) const {
    const Request& request = t_.requests[time.request];
    const Instant start = std::max(time.start, c_.in.now);
    std::vector<Booking> with_own = beside;
    with_own.push_back({t_.strings.id(asked_.id), t_.queues.slot(asked_.queue), start, time.end,
                        request.sharing, shares_of(t_, vnodes_, asked_.shares)});
    book(std::move(with_own), start, ahead);
    PlaceRules within_own = rules_for(time);
    within_own.booking = static_cast<std::uint32_t>(beside.size());
    std::vector<bool> of_jobs(vnodes_.size());
    for (const JobSlot job : jobs_)
        for (const VnodeSlot vnode : vnodes_.held_by(job)) of_jobs[vnode] = true;
    bool found = false;
    if (!jobs_.empty()) {
        PlaceRules narrow = within_own;
        narrow.within = &of_jobs;
        found = vnodes_.find(pool, request, narrow, out) && covers_jobs(out);
    }
    found = found || (vnodes_.find(pool, request, within_own, out) && covers_jobs(out));
    if (!found) return false;
    book(beside, start, ahead);
    return vnodes_.has_room(pool, request, rules_for(time), out);
}

bool Answering::has_lost_vnodes(PoolId pool) const {
    return std::ranges::any_of(asked_.shares, [&](const AdvanceReservation::Share& share) {
        const VnodeSlot vnode = vnodes_.find(share.vnode);
        return vnode == kNoSlot || !vnodes_.is_open(pool, vnode);
    });
}

// Finds a place for the whole time on the reservation's own vnodes and as few others as possible. So a
// reservation that has lost vnodes stays where its jobs run; with place=group=, in their placement set.
// Returns false if there is no such place.
bool Answering::replace(const Time& time, std::vector<Booking> beside, const VnodesAhead& ahead, PoolId pool,
                        Placement& out) const {
    const Request& request = t_.requests[time.request];
    book(std::move(beside), std::max(time.start, c_.in.now), ahead);
    PlaceRules rules = rules_for(time);
    if (request.group == kNoResource)
        return replace_within(std::vector<bool>(vnodes_.size(), true), request, rules, pool, out);
    rules.groups = {&request.group, 1};
    std::vector<VnodeSlot> of_jobs;
    for (const JobSlot job : jobs_) std::ranges::copy(vnodes_.held_by(job), std::back_inserter(of_jobs));
    const auto sets = vnodes_.sets_with(pool, request, rules, set_rules(), of_jobs);
    return std::ranges::any_of(
        sets, [&](const std::vector<bool>& set) { return replace_within(set, request, rules, pool, out); });
}

bool Answering::replace_within(const std::vector<bool>& set, const Request& request, const PlaceRules& rules,
                               PoolId pool, Placement& out) const {
    std::vector<bool> own(vnodes_.size());
    for (const AdvanceReservation::Share& share : asked_.shares)
        if (const VnodeSlot vnode = vnodes_.find(share.vnode); vnode != kNoSlot) own[vnode] = set[vnode];
    std::vector<VnodeSlot> others;
    std::ranges::copy_if(vnodes_.pool_vnodes(pool), std::back_inserter(others),
                         [&](VnodeSlot vnode) { return set[vnode] && !own[vnode]; });
    const auto is_found_with = [&](std::size_t count) {
        std::vector<bool> within = own;
        for (std::size_t i = 0; i < count; ++i) within[others[i]] = true;
        PlaceRules limited = rules;
        limited.within = &within;
        return vnodes_.find(pool, request, limited, out);
    };
    std::size_t few = 0;
    for (std::size_t many = others.size(); few < many;) {
        const std::size_t middle = few + (many - few) / 2;
        if (is_found_with(middle))
            many = middle;
        else
            few = middle + 1;
    }
    return is_found_with(few) && covers_jobs(out);
}

// Finds a place for the whole time and writes it to `out`. Returns an empty text, or the reason why there is
// none. `others`: the bookings of other reservations.
std::string Answering::place(const Time& time, const std::vector<Booking>& others, const VnodesAhead& ahead,
                             PoolId pool, Placement& out) const {
    const Instant start = std::max(time.start, c_.in.now);
    std::vector<Booking> beside;
    std::ranges::copy_if(others, std::back_inserter(beside), [&](const Booking& booking) {
        return booking.end > start && booking.start < time.end;
    });
    const Request& request = t_.requests[time.request];
    // The reservation has places for the first of its times: use them again if possible.
    const bool has_places = !asked_.keeps_first && &time == times_.data() && !asked_.shares.empty();
    if (has_places && keep(time, beside, ahead, pool, out)) return {};
    if (has_places && !jobs_.empty()) {
        if (has_lost_vnodes(pool) && replace(time, beside, ahead, pool, out)) return {};
        return "jobs run in it, and its vnodes have too little that is free for all of its time";
    }
    book(std::move(beside), start, ahead);
    PlaceRules rules = rules_for(time);
    const auto groups = request.group != kNoResource
                            ? std::vector{request.group}
                            : queues_.groups_of(t_.queues[t_.queues.slot(asked_.queue)]);
    rules.groups = groups;
    std::string set;
    if (vnodes_.find_in_sets(pool, request, rules, set_rules(), out, &set)) return {};
    if (!groups.empty() && set.empty() && c_.settings.do_not_span_psets)
        return "it is too large for every placement set, and may not be in several";
    if (vnodes_.large_enough(pool, request, c_.vnode_share()))
        return "the vnodes have too little that is free for all of its time";
    return vnodes_.pool_vnodes(pool).size() == vnodes_.size()
               ? "the vnodes are too small for it, whatever runs"
               : "the vnodes that belong to no queue and no other partition are too small for it, whatever "
                 "runs";
}

// Returns the instants at which a reservation that begins as soon as possible may find its places: now, and
// the ends of running jobs, of other reservations' bookings and of dedicated time. If there are many, about
// kMost of them, at equal distances in the list.
std::vector<Instant> Answering::instants(const std::vector<Booking>& others) const {
    constexpr std::size_t kMost = 1000;
    const Instant now = c_.in.now;
    std::vector<Instant> all{now};
    t_.jobs.for_each([&](JobSlot job) {
        if (is_running(t_.jobs.state[job])) all.push_back(expected_end(t_, job, c_.state));
    });
    for (const Booking& booking : others) all.push_back(booking.end);
    if (const auto dedicated = queues_.dedicated_time_from(0, now)) all.push_back(dedicated->end);
    std::erase_if(all, [&](Instant at) { return at < now; });
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::size_t step = (all.size() + kMost - 1) / kMost;
    std::vector<Instant> out;
    for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
    if (out.back() != all.back()) out.push_back(all.back());
    return out;
}

// Finds places for the times of the reservation, one after the other. Stops at the first time without a
// place, and writes the reason to `out`.
void Answering::place_all(const std::vector<Booking>& others, VnodesAhead& ahead, PoolId pool,
                          ReservationAnswer& out) const {
    out.placements.clear();
    for (const Time& time : times_) {
        out.why_not = time_refusal(time);
        if (out.why_not.empty()) {
            ahead.go_to(std::max(time.start, c_.in.now));
            vnodes_.settle(pool);
            auto& placed = out.placements.emplace_back();
            placed.request = time.request;
            out.why_not = place(time, others, ahead, pool, placed.placement);
        }
        if (out.why_not.empty()) continue;
        if (times_.size() > 1)
            out.why_not = fmt::format("{} (occurrence {} of the {} that are asked for)", out.why_not,
                                      &time - times_.data() + 1, times_.size());
        return;
    }
}

ReservationAnswer Answering::answer(ReservationHandle handle) {
    ReservationAnswer out{handle};
    const Request& request = t_.requests[asked_.request];
    if (!c_.state.supports(request)) {
        out.why_not = request.not_supported();
        return out;
    }
    // One that was made from a running job has the job's places, and its range doesn't matter.
    if (!request.range.empty() && asked_.shares.empty()) {
        out.why_not = "a reservation has a fixed number of chunks: it can't have a select_range";
        return out;
    }
    const Instant now = c_.in.now;
    const std::vector<Booking> others = bookings_from(t_, vnodes_, now, &asked_);
    const JobsInBookings jobs(t_, c_.state, others);
    const PoolId pool = vnodes_.pool(asked_.queue, 0, c_.in.partition, chunks_by(t_, c_.settings),
                                     c_.node_keys(c_.state.keys_of_place(request)));
    {
        // Don't count jobs of reservations: the bookings have their amounts.
        VnodesAhead ahead(t_, vnodes_, c_.state, [&](JobSlot job) {
            return t_.queues[t_.jobs.queue[job]].handle == asked_.queue || jobs.is_in_one(job);
        });
        if (!asked_.soonest) {
            place_all(others, ahead, pool, out);
        } else {
            const auto length = asked_.end - asked_.start;
            for (const Instant at : instants(others)) {
                times_.assign(1, {at, at + length, asked_.request});
                place_all(others, ahead, pool, out);
                if (out.why_not.empty()) out.start = at;
                if (out.why_not.empty() || !vnodes_.large_enough(pool, request, c_.vnode_share())) break;
            }
        }
    }
    vnodes_.settle(pool);
    return out;
}

// Sets the reservation's places by the answer, until the host reports them.
void take(const Tables& t, const Vnodes& vnodes, const ReservationAnswer& answer,
          AdvanceReservation& reservation) {
    auto next = answer.placements.begin();
    const auto shares = [&] {
        std::vector<AdvanceReservation::Share> out;
        for (const Part& part : next->placement) {
            AdvanceReservation::Share share{vnodes[part.vnode].handle, {}};
            for (const Need& need : next->placement.amounts_of(part, t.requests[next->request]))
                share.amounts.push_back({need.resource, need.amount * part.count});
            out.push_back(std::move(share));
        }
        ++next;
        return out;
    };
    if (!reservation.keeps_first) {
        reservation.shares = shares();
        reservation.held_start = answer.start.value_or(reservation.start);
        reservation.held_end = reservation.held_start + (reservation.end - reservation.start);
    }
    for (AdvanceReservation::Occurrence& one : reservation.later)
        if (one.asked) one.shares = shares();
}

}  // namespace

void book_reservations(Tables& tables, const CycleState& state) {
    Vnodes& vnodes = *state.vnodes;
    if (tables.reservations.empty()) return vnodes.bookings().clear();
    book(tables, vnodes, bookings_from(tables, vnodes, state.now, nullptr), state);
}

std::vector<ReservationAnswer> answer_reservations(CycleContext& context, const Queues& queues) {
    std::vector<ReservationAnswer> answers;
    Tables& t = context.tables;
    Vnodes& vnodes = *context.state.vnodes;
    // When later reservations are answered, one that was confirmed before counts as if the host had reported
    // it already.
    std::map<ReservationHandle, AdvanceReservation> before;
    for (auto& [handle, reservation] : t.reservations) {
        if (!reservation.asked) continue;
        const QueueSlot queue = t.queues.find(reservation.queue);
        if (queue == kNoSlot || t.queues[queue].partition != context.in.partition) continue;
        ReservationAnswer answer = Answering(context, queues, reservation).answer(handle);
        if (answer.why_not.empty()) {
            before.emplace(handle, reservation);
            take(t, vnodes, answer, reservation);
        }
        answers.push_back(std::move(answer));
    }
    if (answers.empty()) return answers;
    book_reservations(t, context.state);
    for (auto& [handle, reservation] : before) t.reservations[handle] = std::move(reservation);
    return answers;
}

}  // namespace pbs::sched
