#include "server_plugin/scheduler/cycle_events_standard.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "server_plugin/scheduler/job_size.h"

namespace pbs::sched {

namespace {

// Jobs with several kinds of chunks have lanes of their own: with less room they may fit where they didn't
// before, as chunks are placed one kind after the other.
constexpr std::uint32_t mixed = 1U << 31;

bool is_lane_of_mixed(std::uint32_t of) {
    return (of & mixed) != 0;
}
QueueSlot queue_of_lane(std::uint32_t of) {
    return of & ~mixed;
}

}  // namespace

bool standard_goes_by_events(const Settings& s) {
    if (s.round_robin || s.job_sort_formula.find("eligible_time") != std::string::npos) return false;
    // The key of a job within its queue has to fit.
    unsigned bits = comparator("queued").bits + comparator("sequence").bits;
    if (!s.job_sort_formula.empty()) bits += comparator("formula").bits;
    for (const SortKey& key : s.job_sort_key) {
        const bool priority = key.name == "job_priority" || key.name == "sort_priority";
        bits += comparator(priority                 ? "job_priority"
                           : key.name == "walltime" ? "asked_walltime"
                                                    : "resource")
                    .bits;
    }
    return bits <= std::tuple_size_v<WaitingKey> * 64;
}

bool standard_nothing_may_start(const CycleInput& in) {
    const EventMemory& memory = *in.events;
    const EventsSince& since = memory.since;
    const TopJobs& top = memory.top_jobs;
    const WaitingJobs& waiting = memory.waiting;
    if (!memory.waiting_known || since.lost || !since.changed.empty() || memory.policy != in.policy ||
        in.policy->settings.strict_ordering || top.hold_up_all || !top.hold_up.empty() || top.limits ||
        !top.vnodes.empty())
        return false;
    if (std::ranges::find(memory.limited, true) != memory.limited.end()) return false;
    if (!waiting.lanes_of(JobClass::waiting).empty() || waiting.may_be_due(in.now)) return false;
    const Tables& t = *in.tables;
    const SizeLimit limit = room_on(since.freed, t.vnodes, t.resources, t.chunks_by(in.policy->settings));
    return std::ranges::none_of(waiting.lanes_of(JobClass::normal), [&](LaneId lane) {
        WaitingJobs::Position at;
        return is_lane_of_mixed(waiting[lane].of) || waiting.find(lane, limit, at);
    });
}

// ---- The jobs in order.

// The class of a queued job, as make_standard_list() has it; nothing: it is of no queue of this scheduler.
std::optional<JobClass> Cycle::standard_class_of(JobSlot job) const {
    if (!in_place_.contains(t_.jobs.queue[job])) return std::nullopt;
    return standard_waits_from(job) <= in_.now ? JobClass::waiting : JobClass::normal;
}

// When it becomes a starving job; the last of all instants: never.
Instant Cycle::standard_waits_from(JobSlot job) const {
    if (!s_.help_starving_jobs) return Instant::max();
    return t_.jobs.eligible[job] + s_.max_starve + Seconds(1);
}

WaitingJobs::Entry Cycle::standard_entry_of(const OrderedJob& job) const {
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
    WaitingJobs::Entry entry;
    entry.job = job.job;
    order_key(in_.policy->lane_chain, context, job, entry.key);
    entry.size = job_size(job, t_.jobs, t_.requests, t_.resources);
    entry.waits_from = standard_waits_from(job.job).time_since_epoch().count();
    return entry;
}

std::uint32_t Cycle::standard_lane_of(JobSlot job) const {
    const QueueSlot queue = t_.jobs.queue[job];
    return t_.requests[t_.jobs.request[job]].chunks.size() > 1 ? queue | mixed : queue;
}

TopJobs Cycle::top_jobs() const {
    const bool limits =
        std::ranges::any_of(state_.reservations, [](const Reservation& r) { return !r.spare.empty(); });
    TopJobs top{top_job_ != no_slot, {}, limits, state_.vnodes->reserved()};
    for (const QueueView& view : views_)
        if (view.top_job != no_slot) top.hold_up.push_back(view.slot);
    return top;
}

// ---- What may start.

Cycle::StandardEvents::StandardEvents(Cycle& cycle) : c_(cycle), waiting_(cycle.in_.events->waiting) {}

std::size_t Cycle::StandardEvents::state_number() const {
    return c_.started_.size() + c_.state_.reservations.size() + c_.held_up_;
}

// May the next job of the lane, if it doesn't start, have an effect on others?
bool Cycle::StandardEvents::may_reserve(const Lane& lane, const QueueView& view) const {
    const Settings& s = c_.s_;
    if (!view.queue->started) return false;
    if (!s.strict_ordering && lane.job_class != JobClass::waiting) return false;
    return c_.may_hold_up(view);
}

// Is what was refused in the queue for want of something other than vnodes to be looked at again?
bool Cycle::StandardEvents::may_start_anywhere(const QueueView& view) const {
    const EventMemory& memory = *c_.in_.events;
    const TopJobs& top = memory.top_jobs;
    if (top.hold_up_all || std::ranges::find(top.hold_up, view.slot) != top.hold_up.end()) return true;
    if (view.slot >= memory.limited.size() || !memory.limited[view.slot]) return false;
    return limits_freed_ || top.limits ||
           std::ranges::find(memory.since.ended_in, view.slot) != memory.since.ended_in.end();
}

const Cycle::StandardEvents::Limits& Cycle::StandardEvents::limits_of(QueueView& view, bool is_mixed) {
    Limits& limits = limits_[view.number * 2 + (is_mixed ? 1 : 0)];
    if (limits.as_of == state_number()) return limits;
    limits.as_of = state_number();
    limits.list.clear();
    const bool anywhere = is_mixed || may_start_anywhere(view);
    if (!c_.is_held_up(view) && (anywhere || !vnodes_.empty()) &&
        c_.takes_any(view, JobClass::normal, nullptr)) {
        SizeLimit limit;
        limit.most.nodes = no_limit;
        limit.most.walltime = limit.small_walltime =
            narrow(c_.longest_walltime(view, JobClass::normal, no_limit));
        if (anywhere) {
            for (const Vnodes::Room& room : c_.rooms_of(view.pool))
                c_.add_limit(view, limit, room, limits.list);
        } else {
            const Vnodes& vnodes = *c_.state_.vnodes;
            const bool by_host = c_.t_.chunks_by(c_.s_) == Chunks::divided;
            const Vnode* last = nullptr;
            for (const VnodeSlot vnode : vnodes_) {
                if (!vnodes.is_open(view.pool, vnode)) continue;
                if (by_host && last != nullptr && last->host == vnodes[vnode].host) continue;
                last = &vnodes[vnode];
                c_.add_rooms_of(view, vnode, limit, limits.list);
            }
        }
    }
    limits.around = SizeLimit::around(limits.list);
    return limits;
}

// Could the job be placed now, if nothing was reserved? What starts later in the cycle makes no room, so a no
// holds for all that ask for the same, until its end.
bool Cycle::StandardEvents::may_have_room(JobSlot job, const QueueView& view) {
    const std::uint32_t number = c_.t_.jobs.request[job];
    const Request& request = c_.t_.requests[number];
    if (!request.unsupported.empty()) return false;
    if (is_told_by_size(request, c_.t_.resources) || c_.t_.jobs.run_host[job] != 0) return true;
    const auto [place, made] = room_.try_emplace(std::uint64_t{number} << 32 | view.pool);
    if (!made && place->second == 0) return false;
    if (!made && place->second == state_number() + 1) return true;
    Candidate candidate;
    candidate.job = job;
    PlaceRules rules = c_.state_.place_rules(candidate);
    rules.ends = {};
    place->second = c_.each_kind_has_room(request, view.pool, rules) ? state_number() + 1 : 0;
    return place->second != 0;
}

// ---- In order.

// The next job of the lane, from `at` on, that may start.
bool Cycle::StandardEvents::find(const Lane& lane, Turn& turn, WaitingJobs::Position& at) {
    QueueView& view = *c_.in_place_.at(queue_of_lane(lane.of))[0];
    const Limits& limits = limits_of(view, is_lane_of_mixed(lane.of));
    if (limits.list.empty()) return false;
    for (; waiting_.find(turn.lane, limits.around, at); ++at.index) {
        const JobSize size = waiting_.size_of(turn.lane, at);
        if (std::ranges::any_of(limits.list, [&](const SizeLimit& l) { return l.holds(size); }) &&
            may_have_room(waiting_.job(turn.lane, at), view))
            return true;
    }
    return false;
}

bool Cycle::StandardEvents::next_turn(Turn& turn) {
    const Lane& lane = waiting_[turn.lane];
    if (!waiting_.settle(turn.lane, turn.at)) return false;
    turn.unfiltered = may_reserve(lane, *c_.in_place_.at(queue_of_lane(lane.of))[0]);
    if (!turn.unfiltered) {
        WaitingJobs::Position at = turn.at;
        const bool found = find(lane, turn, at);
        const auto& news = c_.news_;
        const auto next = std::ranges::lower_bound(news, News{turn.lane, turn.at});
        const bool is_new = next != news.end() && next->lane == turn.lane;
        if (!found && !is_new) return false;
        turn.at = !found || (is_new && next->at < at) ? next->at : at;
    }
    turn.as_of = state_number();
    turn.key = waiting_.key(turn.lane, turn.at);
    return true;
}

bool Cycle::StandardEvents::consider_lanes(JobClass job_class) {
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> next;
    for (const LaneId id : waiting_.lanes_of(job_class)) {
        Turn turn;
        turn.lane = id;
        if (c_.s_.by_queue) turn.rank = ranks_[queue_of_lane(waiting_[id].of)];
        if (next_turn(turn)) next.push(turn);
    }
    while (!next.empty()) {
        Turn turn = next.top();
        next.pop();
        if (turn.as_of == state_number()) {
            if (turn.unfiltered && ++unfiltered_ > most_unfiltered) return false;
            const OrderedJob job = c_.ordered(waiting_.job(turn.lane, turn.at), job_class);
            c_.consider(job, c_.targets_of(job));
            ++turn.at.index;
        }
        // Else less is free now than when it was found.
        if (next_turn(turn)) next.push(turn);
    }
    return true;
}

bool Cycle::StandardEvents::consider() {
    c_.set_up_standard_queues();
    c_.renew_waiting_jobs();
    if (!c_.find_news()) return false;
    ranks_ = c_.queue_ranks();
    limits_.resize(c_.views_.size() * 2);
    const EventMemory& memory = *c_.in_.events;
    vnodes_ = memory.since.freed;
    vnodes_.insert(vnodes_.end(), memory.top_jobs.vnodes.begin(), memory.top_jobs.vnodes.end());
    std::ranges::sort(vnodes_);
    vnodes_.erase(std::unique(vnodes_.begin(), vnodes_.end()), vnodes_.end());
    const ServerLimits& server = c_.t_.server;
    limits_freed_ =
        !memory.since.ended_in.empty() && (server.max_running >= 0 || server.max_user_run >= 0 ||
                                           server.max_group_run >= 0 || !server.resources_available.empty());
    for (const JobClass job_class : {JobClass::waiting, JobClass::normal})
        if (!consider_lanes(job_class)) return false;
    for (const JobSlot job : memory.since.changed)
        if (!waiting_.contains(job)) c_.refuse_if_unserved(job);
    return true;
}

bool Cycle::consider_standard_events() {
    return StandardEvents(*this).consider();
}

}  // namespace pbs::sched
