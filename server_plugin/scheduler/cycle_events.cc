// A cycle after single events: jobs arrived, changed or ended since the last one, and nothing else happened.
// All other jobs were refused then, and nothing but these events can let one of them start now. So the cycle
// looks at the jobs that are new, and at those that are small enough for what was given back; it starts what
// a cycle over all jobs would start. Comments of jobs that it doesn't look at stay until the next full one.

#include <algorithm>
#include <limits>

#include "server_plugin/scheduler/cycle_events_standard.h"
#include "server_plugin/scheduler/job_size.h"
#include "server_plugin/scheduler/order/past_usage.h"

namespace pbs::sched {
namespace {

// Do jobs of the class start in the queue that they are in?
bool is_in_place(JobClass job_class) {
    return job_class == JobClass::dedicated || job_class == JobClass::rest;
}

// Turns in a heap: the one with the least usage, and then the least key, goes first.
bool later_turn(const Turn& a, const Turn& b) {
    return a.usage != b.usage ? a.usage > b.usage : a.key > b.key;
}

// Is the whole of what `less` asks for the first that `more` does? Then there is no room for it either where
// there is none for `less`.
bool begins_with(const Request& more, const Request& less) {
    if (less.chunks.size() != 1 || less.arrangement == Arrangement::pack ||
        more.arrangement != less.arrangement || more.exclusive != less.exclusive)
        return false;
    const Chunk& first = more.chunks.front();
    const Chunk& only = less.chunks.front();
    return first.count >= only.count && first.matches == only.matches &&
           std::ranges::equal(first.needs, only.needs, [](const Need& a, const Need& b) {
               return a.resource == b.resource && a.amount == b.amount;
           });
}

}  // namespace

bool goes_by_events(const Settings& s, Instant now) {
    if (s.algorithm == Algorithm::standard) return standard_goes_by_events(s);
    return !s.test_only.holds(now) && s.sorted_job_dumpfile.empty() && !s.avoid_fragmentation.holds(now) &&
           !s.nonprime_drain_sys.holds(now) && !s.enforce_allocation.holds(now) &&
           !s.manage_hpm_counters.holds(now) && s.max_jobs == 0 && s.min_jobs == 0 &&
           s.max_load_percent == 0 && s.high_systime == 0;
}

void EventsSince::forget() {
    everything = lost = false;
    changed.clear();
    freed.clear();
    ended_in.clear();
}

void EventsSince::all() {
    ++times_all;
    everything = true;
    freed.clear();
    ended_in.clear();
}

void EventsSince::settings_changed() {
    all();
    lost = true;
    changed.clear();
}

void EventsSince::job_changed(JobSlot job) {
    if (lost) return;
    changed.push_back(job);
    if (changed.size() > most_changed) settings_changed();
}

void EventsSince::job_ended(QueueSlot queue, std::span<const VnodeSlot> vnodes) {
    if (everything) return;
    ended_in.push_back(queue);
    freed.insert(freed.end(), vnodes.begin(), vnodes.end());
    if (freed.size() > most_freed) all();
}

namespace {

// Nothing but events of jobs has happened, and what the last cycle started runs, or has run.
bool only_jobs_changed(const CycleInput& in) {
    if (!in.by_events || in.events->since.everything) return false;
    const Settings& s = in.policy->settings;
    if (!goes_by_events(s, in.now)) return false;  // as it did before the date of an option
    const bool origin = s.algorithm == Algorithm::origin;
    if (origin &&
        (in.memory->first_cycle || !in.memory->found_at_start.empty() || !in.memory->early_until.empty()))
        return false;
    const JobTable& jobs = in.tables->jobs;
    return std::ranges::none_of(in.events->started, [&](JobHandle handle) {
        const JobSlot job = jobs.find(handle);
        return job != no_slot && jobs.state[job] == 'Q';
    });
}

// Would a cycle hold back as much for the jobs that queues are drained for? So it does if nothing is, and
// else if it finds the same jobs, and reserves the same for them. In time, a queue may be drained for a job
// that was passed over.
bool drains_stand(const CycleInput& in) {
    const EventMemory& memory = *in.events;
    if (!in.policy->settings.schedule_log.empty() && memory.queued > 0) return false;
    if (memory.drains.empty()) return true;
    return !memory.passed_over && memory.started.empty() && memory.queued == memory.waiting.size() &&
           memory.kept.size() == memory.drains.size() &&
           std::ranges::all_of(memory.kept, [&](const KeptDrain& kept) { return kept.holds(in.now); });
}

}  // namespace

bool nothing_may_start(const CycleInput& in) {
    if (in.events != nullptr) in.events->class_with_room.reset();
    if (!only_jobs_changed(in)) return false;
    EventMemory& memory = *in.events;
    const auto remember = [&] {
        memory.last = in.now;
        memory.started.clear();
        memory.since.forget();
        return true;
    };
    if (in.policy->settings.algorithm == Algorithm::standard)
        return standard_nothing_may_start(in) && remember();
    const EventsSince& since = memory.since;
    WaitingJobs& waiting = memory.waiting;
    if (!memory.by_events || !memory.waiting_known || since.lost || !since.changed.empty() ||
        memory.policy != in.policy)
        return false;
    if (!drains_stand(in)) return false;
    if (std::ranges::find(memory.limited, true) != memory.limited.end()) return false;
    if (!waiting.lanes_of(JobClass::waiting).empty() || waiting.may_be_due(in.now)) return false;
    if (!waiting.mixed().empty()) return false;
    in.policy->prime.move_to(in.now);
    const bool prime_now =
        in.policy->settings.enforce_prime_time.holds(in.now) && in.policy->prime.now_inside();
    if (prime_now != memory.prime_now) return false;
    const Tables& t = *in.tables;
    SizeLimit limit = room_on(since.freed, t.vnodes, t.resources);
    for (const JobClass job_class :
         {JobClass::special, JobClass::normal, JobClass::dedicated, JobClass::rest}) {
        limit.most.walltime = job_class == JobClass::normal ? narrow(memory.longest_normal) : no_limit;
        if (!waiting.has_lane(job_class, limit)) continue;
        memory.class_with_room = job_class;
        return false;
    }
    return remember();
}

// ---- The jobs in order.

LaneId Cycle::lane_of(JobSlot job, JobClass job_class) {
    std::uint32_t of = 0;
    if (s_.algorithm == Algorithm::standard)
        return in_.events->waiting.lane(job_class, standard_lane_of(job));
    if (job_class == JobClass::normal) of = t_.jobs.user[job];
    if (job_class == JobClass::dedicated || job_class == JobClass::rest) of = t_.jobs.queue[job];
    return in_.events->waiting.lane(job_class, of);
}

WaitingJobs::Entry Cycle::entry_of(const OrderedJob& job) const {
    if (s_.algorithm == Algorithm::standard) return standard_entry_of(job);
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
    WaitingJobs::Entry entry;
    entry.job = job.job;
    order_key(origin_chain(job.job_class, state_.prime_now), context, job, entry.key);
    entry.size = job_size(job, t_.jobs, t_.requests, t_.resources);
    entry.request = request_to_search(job.job);
    const Request& request = t_.requests[t_.jobs.request[job.job]];
    entry.mixed = request.chunks.size() > 1 && request.unsupported.empty();
    entry.charge = charge_units(s_.past_usage_charge, job.nodes, t_.jobs.expected_walltime(job.job));
    entry.waits_from = waits_from(job.job).time_since_epoch().count();
    return entry;
}

// Are the lanes those of this policy, with all jobs that aren't told of as changed?
bool Cycle::knows_waiting_jobs() const {
    const EventMemory* memory = in_.events;
    return memory != nullptr && memory->waiting_known && !memory->since.lost &&
           memory->policy == in_.policy && memory->prime_now == state_.prime_now;
}

// In a full cycle, which has sorted them.
void Cycle::keep_waiting_jobs() {
    EventMemory& memory = *in_.events;
    memory.waiting.clear();
    for (const auto& jobs : classes_)
        for (const OrderedJob& job : jobs)
            memory.waiting.insert(lane_of(job.job, job.job_class), entry_of(job));
    memory.waiting_known = true;
    memory.policy = in_.policy;
    memory.prime_now = state_.prime_now;
}

// What arrived or changed since is put into its lane; what became a waiting job moves.
void Cycle::renew_waiting_jobs() {
    EventMemory& memory = *in_.events;
    auto& changed = memory.since.changed;
    memory.waiting.find_due(in_.now, changed);
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    std::erase_if(changed, [&](JobSlot job) { return t_.jobs.state[job] != 'Q'; });
    for (const JobSlot job : changed) {
        memory.waiting.remove(job);
        if (const auto job_class = class_of(job))
            memory.waiting.insert(lane_of(job, *job_class), entry_of(ordered(job, *job_class)));
    }
}

// ---- What may start.

// Does the queue take a job that asks for nothing? Gates that ask for the user are left out unless `user` is
// given.
bool Cycle::takes_any(QueueView& view, JobClass job_class, const Candidate* user) {
    static const Request nothing = [] {
        Request request;
        request.chunks.emplace_back();
        return request;
    }();
    Candidate least;
    least.job_class = job_class;
    least.request = &nothing;
    least.nodes = 0;
    least.asked = Seconds(0);
    if (user != nullptr) {
        least.owner = user->owner;
        least.group = user->group;
        least.job = user->job;
    }
    find_gates(view);
    return std::ranges::all_of(view.gates, [&](const Gate* gate) {
        if ((gate->traits & (tells_fit | looks_for_room)) != 0) return true;
        const bool of_user = user_reads(*gate, state_, view) != 0;
        if (of_user != (user != nullptr) || !gate->check(state_, least, view)) return true;
        note_limited(*gate, view);  // jobs may be passed over that nothing else keeps from starting
        return false;
    });
}

// The longest walltime with which the gates that limit it let a job of so many nodes through; -1: none.
std::int64_t Cycle::longest_walltime(QueueView& view, JobClass job_class, std::int64_t nodes) {
    Candidate job;
    job.job_class = job_class;
    job.nodes = nodes;
    find_gates(view);
    std::int64_t most = view.max_walltime >= Seconds(0) ? view.max_walltime.count() : no_limit;
    for (const Gate* gate : view.gates)
        if (gate->longest != nullptr) most = std::min(most, gate->longest(state_, job, view).count());
    return std::max<std::int64_t>(most, -1);
}

// How large jobs of a class may be to start in a queue now: on any of its vnodes where the queue itself has
// given something back, else on one of the vnodes that have.
void Cycle::add_limits(QueueView& view, JobClass job_class, std::vector<SizeLimit>& limits) {
    const EventsSince& since = in_.events->since;
    if (!all_freed_ && since.ended_in.empty() && since.freed.empty()) return;
    if (!takes_any(view, job_class, nullptr)) return;
    SizeLimit limit;
    limit.small_nodes = narrow(s_.prime_time_small_node_limit);
    limit.most.walltime = narrow(longest_walltime(view, job_class, no_limit));
    limit.small_walltime =
        limit.small_nodes > 0 ? narrow(longest_walltime(view, job_class, 1)) : limit.most.walltime;
    longest_ = std::max(limit.most.walltime, limit.small_walltime);
    limit.most.nodes = view.node_limit < 0 ? no_limit : narrow(view.node_limit - view.nodes);
    if (limit.most.nodes < in_.events->waiting.most_nodes()) note_limited(view);
    const Vnodes& vnodes = *state_.vnodes;
    const auto& limited = in_.events->limited;
    const bool of_limits =
        view.slot < limited.size() && limited[view.slot] &&
        (limits_all_freed_ || std::ranges::find(since.ended_in, view.slot) != since.ended_in.end());
    if (all_freed_ || of_limits) {
        for (const Vnodes::Room& room : rooms_of(view.pool)) add_limit(view, limit, room, limits);
        return;
    }
    for (const VnodeSlot vnode : since.freed) {
        if (vnodes.is_open(view.pool, vnode)) add_rooms_of(view, vnode, limit, limits);
    }
}

// What the vnode, or its host, has for jobs that end before its reservations begin, and for those that don't.
void Cycle::add_rooms_of(const QueueView& view, VnodeSlot vnode, const SizeLimit& limit,
                         std::vector<SizeLimit>& limits) const {
    const auto& known = t_.resources.known();
    Vnodes& vnodes = *state_.vnodes;
    for (const Reservation& reservation : state_.reservations) {
        const std::int32_t before = narrow((reservation.start - in_.now).count());
        SizeLimit until = limit;
        until.most.walltime = std::min(limit.most.walltime, before);
        until.small_walltime = std::min(limit.small_walltime, before);
        add_limit(view, until,
                  vnodes.host_room_until(view.pool, vnode, known.ncpus, known.mem, reservation.start),
                  limits);
    }
    add_limit(view, limit, vnodes.host_room_until(view.pool, vnode, known.ncpus, known.mem, Instant::max()),
              limits);
}

// `limit`, for chunks that fit the room.
void Cycle::add_limit(const QueueView& view, SizeLimit limit, const Vnodes::Room& room,
                      std::vector<SizeLimit>& limits) const {
    const auto& known = t_.resources.known();
    const auto at_most = [&](std::uint32_t resource, std::int64_t amount) {
        return std::min(amount, number_of(view.queue->resources_max, resource)
                                    .value_or(std::numeric_limits<std::int64_t>::max()));
    };
    limit.most.ncpus = narrow(at_most(known.ncpus, free_at_least(room.first)));
    limit.most.mem = megabytes(at_most(known.mem, free_at_least(room.second)));
    if (std::ranges::any_of(limits, [&](const SizeLimit& other) { return other.covers(limit); })) return;
    std::erase_if(limits, [&](const SizeLimit& other) { return limit.covers(other); });
    limits.push_back(limit);
}

// For the cycles to come.
void Cycle::note_limited(const Gate& refused, const QueueView& view) {
    if ((refused.traits & (waits_for_jobs | looks_for_room)) == waits_for_jobs) note_limited(view);
}

void Cycle::note_limited(const QueueView& view) {
    if (in_.events == nullptr) return;
    auto& limited = in_.events->limited;
    if (limited.size() <= view.slot) limited.resize(view.slot + 1);
    limited[view.slot] = true;
}

const std::vector<Vnodes::Room>& Cycle::rooms_of(PoolId pool) {
    Rooms& rooms = rooms_[pool];
    if (rooms.started == started_.size()) return rooms.list;
    const auto& known = t_.resources.known();
    rooms.started = started_.size();
    rooms.list = state_.vnodes->largest_rooms(pool, known.ncpus, known.mem);
    return rooms.list;
}

// On the vnodes that gave something back, is there room for any job of the class? True also if more vnodes
// may matter.
bool Cycle::has_room_for_any(JobClass job_class) {
    EventMemory& memory = *in_.events;
    return all_freed_ || memory.class_with_room == job_class ||
           std::ranges::find(memory.limited, true) != memory.limited.end() ||
           memory.waiting.has_lane(job_class, room_on(memory.since.freed, t_.vnodes, t_.resources));
}

void Cycle::find_limits(LaneTurns& turns, Targets& targets, JobClass job_class) {
    turns.by_view.resize(targets.size());
    turns.limits.clear();
    turns.started = started_.size();
    turns.vain = false;
    if (turns.none) {
        for (auto& own : turns.by_view) own.clear();
        turns.around = SizeLimit::around({});
        return;
    }
    std::int64_t longest = -1;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        auto& own = turns.by_view[i];
        own.clear();
        longest_ = INT64_MAX;  // unless it is found out
        add_limits(*targets[i], job_class, own);
        longest = std::max(longest, longest_);
        turns.limits.insert(turns.limits.end(), own.begin(), own.end());
    }
    if (job_class == JobClass::normal) {
        auto& known = in_.events->longest_normal;
        known = std::min(known, longest);
    }
    turns.around = SizeLimit::around(turns.limits);
}

// What of the limits counts for the user of a lane.
void Cycle::limits_of_user(LaneTurns& turns, Targets& targets, JobSlot job) {
    turns.limits.clear();
    Candidate user;
    user.job = job;
    user.owner = t_.jobs.owner[job];
    user.group = t_.jobs.group[job];
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (turns.by_view[i].empty()) continue;
        if (!takes_any(*targets[i], JobClass::normal, &user)) continue;
        turns.limits.insert(turns.limits.end(), turns.by_view[i].begin(), turns.by_view[i].end());
    }
    turns.around = SizeLimit::around(turns.limits);
}

// WaitingJobs::Entry::request: of jobs with several chunks.
std::uint32_t Cycle::request_to_search(JobSlot job) const {
    const Request& request = t_.requests[t_.jobs.request[job]];
    const bool one_chunk = request.chunks.size() == 1 && request.chunks.front().count == 1;
    const bool alone = one_chunk || !request.unsupported.empty() || t_.jobs.run_host[job] != 0;
    return alone ? 0 : t_.jobs.request[job] + 1;
}

// Is there a place on the vnodes of any of the queues, whatever else there may be against the job? Of several
// kinds of chunks, for each of them alone: what starts in the cycle makes no room for any. Asked once for all
// that ask for the same.
bool Cycle::has_room(std::uint32_t request_to_search, const Targets& targets) {
    const std::uint32_t number = request_to_search - 1;
    const Request& request = t_.requests[number];
    return std::ranges::any_of(targets, [&](const QueueView* view) {
        const auto has_none = [&](const auto& known) {
            return known.second == view->pool &&
                   (known.first == number || begins_with(request, t_.requests[known.first]));
        };
        if (std::ranges::any_of(no_room_, has_none)) return false;
        if (each_kind_has_room(request, view->pool, state_.place_rules())) return true;
        no_room_.emplace_back(number, view->pool);
        return false;
    });
}

bool Cycle::each_kind_has_room(const Request& request, PoolId pool, const PlaceRules& rules) const {
    if (request.chunks.size() == 1) return state_.vnodes->has_place(pool, request, rules);
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        Request one;
        one.chunks = {chunk};
        one.arrangement = request.arrangement;
        one.exclusive = request.exclusive;
        return state_.vnodes->has_place(pool, one, rules);
    });
}

// has_room(), remembered: no place becomes one in this cycle, and one is one until a job starts.
bool Cycle::may_have_room(LaneTurns& turns, std::uint32_t request, const Lane& lane) {
    if (is_in_place(lane.job_class)) return has_room(request, targets_of_lane(lane));  // of their own queues
    if (turns.room_started != started_.size()) turns.room.clear();
    turns.room_started = started_.size();
    if (std::ranges::find(turns.room, request) != turns.room.end()) return true;
    const bool room = has_room(request, batch_);
    (room ? turns.room : turns.no_room).push_back(request);
    return room;
}

// What had no room in the last cycles mostly has none now: then lanes with nothing else needn't be looked at.
void Cycle::find_scarce(LaneTurns& turns) {
    auto& scarce = in_.events->scarce;
    // A number may be another request's by now, or nobody's.
    std::erase_if(scarce, [&](std::uint32_t request) {
        const Request& asked = t_.requests[request - 1];
        return asked.users == 0 || asked.chunks.empty() || !asked.unsupported.empty();
    });
    for (const std::uint32_t request : scarce) {
        const std::int64_t ncpus = least_need(t_.requests[request - 1], t_.resources.known().ncpus);
        if (ncpus <= turns.around.most.ncpus && !has_room(request, batch_)) turns.no_room.push_back(request);
    }
}

void Cycle::note_scarce(const LaneTurns& turns) {
    constexpr std::size_t most = 8;
    auto& scarce = in_.events->scarce;
    for (const std::uint32_t request : turns.no_room) {
        if (std::ranges::find(scarce, request) != scarce.end()) continue;
        if (scarce.size() == most) scarce.erase(scarce.begin());
        scarce.push_back(request);
    }
}

// What starts leaves less for others, so old limits pass over no job that may start. They are good enough
// until one that they let through doesn't, or as many started as vnodes gave something back.
bool Cycle::limits_are_good(const LaneTurns& turns) const {
    if (turns.started == SIZE_MAX) return false;
    const std::size_t since = started_.size() - turns.started;
    return since == 0 || (!turns.vain && since < in_.events->since.freed.size());
}

// The next job of a lane, at or after `at`, that may start or is new.
bool Cycle::next_turn(LaneTurns& turns, Turn& turn) {
    const WaitingJobs& waiting = in_.events->waiting;
    const Lane& lane = waiting[turn.lane];
    WaitingJobs::Position at = turn.at;
    if (!waiting.settle(turn.lane, at)) return false;
    Targets& targets = targets_of_lane(lane);
    // Those of a lane whose jobs start in their queue are its own.
    if (is_in_place(lane.job_class) || !limits_are_good(turns)) find_limits(turns, targets, lane.job_class);
    if (lane.job_class == JobClass::normal && reads_user(targets))
        limits_of_user(turns, targets, waiting.job(turn.lane, at));
    bool found = false;
    if (!turns.limits.empty()) {
        for (; waiting.find(turn.lane, turns.around, at, turns.no_room); ++at.index) {
            const JobSize size = waiting.size_of(turn.lane, at);
            if (std::ranges::none_of(turns.limits, [&](const SizeLimit& l) { return l.holds(size); }))
                continue;
            const std::uint32_t request = waiting.request_of(turn.lane, at);
            found = request == 0 || may_have_room(turns, request, lane);
            if (found) break;
        }
    }
    const auto next = std::ranges::lower_bound(news_, News{turn.lane, turn.at});
    if (next != news_.end() && next->lane == turn.lane && (!found || next->at < at)) {
        at = next->at;
        found = true;
    }
    if (!found) return false;
    turn.at = at;
    turn.started = started_.size();
    turn.key = waiting.key(turn.lane, at);
    if (lane.job_class == JobClass::normal && s_.sort_by_past_usage.holds(in_.now))
        turn.usage = usage_of(waiting.job(turn.lane, at)) + waiting.charge_before(turn.lane, at);
    return true;
}

Targets& Cycle::targets_of_lane(const Lane& lane) {
    return is_in_place(lane.job_class) ? in_place_.at(lane.of) : batch_;
}

// Jobs that are looked at, whatever room there is. False: they are too many.
bool Cycle::find_news() {
    const WaitingJobs& waiting = in_.events->waiting;
    for (const JobSlot job : in_.events->since.changed)
        if (waiting.contains(job)) news_.push_back({waiting.lane_of(job), waiting.position_of(job)});
    if (!find_mixed()) return false;
    std::ranges::sort(news_);
    news_.erase(std::unique(news_.begin(), news_.end()), news_.end());
    return true;
}

// The first vnode with room for one kind of chunks may be the only one for another kind: once a job has taken
// that, both have a place. So jobs with several kinds are looked at each time, as long as each has room
// alone. Where nothing can be reserved, a place for all kinds is exactly what they need of vnodes: then it is
// enough to ask for that, and again whenever a job starts. False: they are too many.
bool Cycle::find_mixed() {
    constexpr std::size_t most = 64;
    const WaitingJobs& waiting = in_.events->waiting;
    const bool may_reserve = !waiting.lanes_of(JobClass::waiting).empty();
    struct Asked {
        std::uint32_t request;
        const Targets* targets;
        bool may_start;
    };
    std::vector<Asked> all_asked;
    std::size_t found = 0;
    for (const JobSlot job : waiting.mixed()) {
        const LaneId lane = waiting.lane_of(job);
        const Targets& targets = targets_of_lane(waiting[lane]);
        const std::uint32_t request = request_to_search(job);
        bool may_start = true;
        if (request != 0) {
            auto asked = std::ranges::find_if(
                all_asked, [&](const Asked& a) { return a.request == request && a.targets == &targets; });
            if (asked == all_asked.end()) {
                if (all_asked.size() == most) return false;
                all_asked.push_back({request, &targets, true});
                asked = all_asked.end() - 1;
                asked->may_start = may_reserve ? has_room(request, targets) : has_place_now(request, targets);
                if (!may_reserve && !asked->may_start) without_place_.emplace_back(request, &targets);
            }
            may_start = asked->may_start;
        }
        if (!may_start) continue;
        if (++found > most) return false;
        news_.push_back({lane, waiting.position_of(job)});
    }
    return true;
}

// has_place(), if that isn't known from an earlier cycle: as long as no job begins or ends there is none.
bool Cycle::has_place_now(std::uint32_t request_to_search, const Targets& targets) {
    if (&targets != &batch_) return has_place(request_to_search, targets);
    auto& known = in_.events->no_place;
    const std::uint64_t changes = state_.vnodes->changes();
    if (std::exchange(in_.events->no_place_as_of, changes) != changes) known.clear();
    const std::uint64_t serial = t_.requests[request_to_search - 1].serial;
    if (std::ranges::find(known, serial) != known.end()) return false;
    if (has_place(request_to_search, targets)) return true;
    known.push_back(serial);
    return false;
}

// Of those that had none?
bool Cycle::mixed_got_place() const {
    return std::ranges::any_of(without_place_,
                               [&](const auto& asked) { return has_place(asked.first, *asked.second); });
}

bool Cycle::has_place(std::uint32_t request_to_search, const Targets& targets) const {
    const Request& request = t_.requests[request_to_search - 1];
    return std::ranges::any_of(targets, [&](const QueueView* view) {
        return state_.vnodes->has_place(view->pool, request, state_.place_rules());
    });
}

// The lanes of a class that may have a job that starts, or that have a new one.
void Cycle::lanes_with_turns(LaneTurns& turns, JobClass job_class) {
    WaitingJobs& waiting = in_.events->waiting;
    std::vector<LaneId>& lanes = turns.lanes;
    lanes.clear();
    if (is_in_place(job_class)) {  // queues, with limits of their own
        const auto all = waiting.lanes_of(job_class);
        lanes.assign(all.begin(), all.end());
        return;
    }
    turns.none = !has_room_for_any(job_class);
    find_limits(turns, batch_, job_class);
    if (!turns.limits.empty()) {
        find_scarce(turns);
        waiting.find_lanes(job_class, turns.around, turns.no_room, lanes);
    }
    const std::size_t by_size = lanes.size();
    for (const News& news : news_)
        if (waiting[news.lane].job_class == job_class) lanes.push_back(news.lane);
    if (lanes.size() == by_size) return;
    std::ranges::sort(lanes);
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
}

// Goes through the jobs of a class that may start. False: only a full cycle knows the order.
bool Cycle::consider_lanes(JobClass job_class) {
    const WaitingJobs& waiting = in_.events->waiting;
    if (waiting.lanes_of(job_class).empty()) return true;
    LaneTurns& turns = scratch_->turns;
    turns.started = SIZE_MAX;
    turns.none = false;
    turns.no_room.clear();
    turns.room.clear();
    std::vector<Turn>& next = turns.next;
    next.clear();
    const auto push = [&](const Turn& turn) {
        next.push_back(turn);
        std::ranges::push_heap(next, later_turn);
    };
    const auto pop = [&] {
        std::ranges::pop_heap(next, later_turn);
        const Turn turn = next.back();
        next.pop_back();
        return turn;
    };
    const bool by_usage = job_class == JobClass::normal && s_.sort_by_past_usage.holds(in_.now);
    const bool apart = is_in_place(job_class);
    const auto has_more = [&](LaneId lane) {
        WaitingJobs::Position at = first_of(lane);
        return waiting.settle(lane, at);
    };
    const bool one_lane = job_class == JobClass::waiting || job_class == JobClass::special;
    if (one_lane && std::ranges::none_of(waiting.lanes_of(job_class), has_more)) return true;
    lanes_with_turns(turns, job_class);
    for (const LaneId lane : turns.lanes) {
        Turn turn{lane, first_of(lane), 0, {}, 0};
        if (next_turn(turns, turn)) push(turn);
    }
    const auto take_turn = [&](Turn turn) {
        const OrderedJob job = ordered(waiting.job(turn.lane, turn.at), job_class);
        const std::size_t before = started_.size();
        consider(job, targets_of(job));
        const bool starts = started_.size() != before;
        turns.vain = turns.vain || !starts;
        ++turn.at.index;
        if (next_turn(turns, turn)) push(turn);
        return starts;
    };
    while (!next.empty()) {
        Turn turn = pop();
        if (turn.started != started_.size()) {  // less is free now than when it was found
            if (next_turn(turns, turn)) push(turn);
            continue;
        }
        if (by_usage && !next.empty() && next.front().usage == turn.usage) {
            std::vector<Turn> tied = {turn};
            while (!next.empty() && next.front().usage == turn.usage) tied.push_back(pop());
            // Those that don't start may be told so in any order.
            const auto waits = std::partition(
                tied.begin(), tied.end(), [&](const Turn& other) { return may_start_now(other, job_class); });
            std::for_each(waits, tied.end(), take_turn);
            tied.erase(waits, tied.end());
            if (tied.empty()) continue;
            const auto chosen = tied.size() == 1 ? tied.begin() : first_of_equals(tied);
            if (chosen == tied.end()) return false;
            turn = *chosen;
            tied.erase(chosen);
            for (const Turn& other : tied) push(other);
        }
        if (take_turn(turn) && mixed_got_place()) return false;
    }
    if (!apart) note_scarce(turns);
    return true;
}

// Who of users with equal usage is picked first by the permutation: the end, if only the whole of it tells.
std::vector<Turn>::iterator Cycle::first_of_equals(std::vector<Turn>& tied) {
    std::vector<UsageLane> lanes;
    const WaitingJobs& waiting = in_.events->waiting;
    for (const LaneId id : waiting.lanes_of(JobClass::normal))
        lanes.push_back({id, waiting[id].jobs, waiting.key(id, {}), usage_of(waiting.job(id, {}))});
    for (const LaneId id : picks_at(waiting, std::move(lanes), tied.front().usage)) {
        const auto found = std::ranges::find(tied, id, &Turn::lane);
        if (found != tied.end()) return found;
    }
    return tied.end();
}

bool Cycle::may_start_now(const Turn& turn, JobClass job_class) {
    const OrderedJob job = ordered(in_.events->waiting.job(turn.lane, turn.at), job_class);
    Candidate c = candidate(job);
    return judge(job, c, targets_of(job), {}).view != nullptr;
}

// ---- For whom a queue is drained.

// The jobs that queues are drained for, and those before them in the list. False: more has changed than what
// this cycle looks at.
bool Cycle::consider_drained() {
    for (const JobClass job_class :
         {JobClass::waiting, JobClass::special, JobClass::normal, JobClass::dedicated, JobClass::rest})
        if (!consider_first(job_class)) return false;
    release_drained();
    return true;
}

// Where a lane goes on that isn't gone through from its first job.
WaitingJobs::Position Cycle::first_of(LaneId lane) const {
    const auto found = std::ranges::find(first_, lane, &decltype(first_)::value_type::first);
    return found == first_.end() ? WaitingJobs::Position{} : found->second;
}

// The job of a lane at its place, or the next one.
bool Cycle::find_turn(Turn& turn) const {
    const WaitingJobs& waiting = in_.events->waiting;
    if (!waiting.settle(turn.lane, turn.at)) return false;
    turn.key = waiting.key(turn.lane, turn.at);
    if (waiting[turn.lane].job_class == JobClass::normal && s_.sort_by_past_usage.holds(in_.now))
        turn.usage = usage_of(waiting.job(turn.lane, turn.at)) + waiting.charge_before(turn.lane, turn.at);
    return true;
}

bool Cycle::consider_first(JobClass job_class) {
    const WaitingJobs& waiting = in_.events->waiting;
    if (!is_drained_for(job_class) || waiting.lanes_of(job_class).empty()) return true;
    std::vector<Turn>& next = scratch_->turns.next;
    next.clear();
    for (const LaneId lane : waiting.lanes_of(job_class)) {
        Turn turn{lane, {}, 0, {}, 0};
        if (find_turn(turn)) next.push_back(turn);
    }
    std::ranges::make_heap(next, later_turn);
    return take_first_turns(job_class, next);
}

// In the order of the list, as long as a queue would be drained for the next one.
bool Cycle::take_first_turns(JobClass job_class, std::vector<Turn>& next) {
    constexpr int most = 512;
    const auto pop = [&] {
        std::ranges::pop_heap(next, later_turn);
        const Turn turn = next.back();
        next.pop_back();
        return turn;
    };
    const auto push = [&](const Turn& turn) {
        next.push_back(turn);
        std::ranges::push_heap(next, later_turn);
    };
    for (int i = 0; !next.empty() && is_drained_for(job_class); ++i) {
        if (i == most) return false;
        Turn turn = pop();
        const bool by_usage = job_class == JobClass::normal && s_.sort_by_past_usage.holds(in_.now);
        if (by_usage && !next.empty() && next.front().usage == turn.usage) {
            std::vector<Turn> tied = {turn};
            while (!next.empty() && next.front().usage == turn.usage) tied.push_back(pop());
            const auto chosen = first_of_equals(tied);
            if (chosen == tied.end()) return false;
            turn = *chosen;
            tied.erase(chosen);
            for (const Turn& other : tied) push(other);
        }
        const OrderedJob job = ordered(in_.events->waiting.job(turn.lane, turn.at), job_class);
        consider(job, targets_of(job));
        ++turn.at.index;
        std::erase_if(first_, [&](const auto& known) { return known.first == turn.lane; });
        first_.emplace_back(turn.lane, turn.at);
        if (find_turn(turn)) push(turn);
    }
    return true;
}

// What was refused for a job in earlier cycles may start now if less is kept for it, or kept elsewhere.
void Cycle::release_drained() {
    EventMemory& memory = *in_.events;
    const std::vector<DrainFor> drains = drains_now();
    if (reserved_kept_ < memory.drains.size()) {
        if (memory.drained_vnodes.size() > EventsSince::most_freed)
            all_freed_ = true;
        else
            memory.since.freed.insert(memory.since.freed.end(), memory.drained_vnodes.begin(),
                                      memory.drained_vnodes.end());
    }
    for (const DrainFor& before : memory.drains) {
        const auto now = std::ranges::find(drains, before.job, &DrainFor::job);
        if (now == drains.end() || !now->holds_back_as_much_as(before)) {
            const bool refused =
                std::ranges::any_of(before.spare, [](const auto& spare) { return spare.refused; });
            all_freed_ = all_freed_ || refused;
            continue;
        }
        // This cycle looks at a part only of what was refused then.
        auto& spare = state_.reservations[static_cast<std::size_t>(now - drains.begin())].spare;
        for (Reservation::Spare& left : spare)
            for (const Reservation::Spare& then : before.spare)
                if (then.key == left.key && then.refused) left.refused = true;
    }
}

// What is kept now.
std::vector<DrainFor> Cycle::drains_now() const {
    std::vector<DrainFor> drains;
    for (const Reservation& made : state_.reservations) {
        const QueueView& view = views_[made.view];
        drains.push_back({t_.jobs.handle[made.job], view.slot, view.host, made.start, made.spare});
    }
    return drains;
}

bool DrainFor::holds_back_as_much_as(const DrainFor& before) const {
    const auto as_much = [&](const Reservation::Spare& then) {
        return !then.refused || std::ranges::any_of(spare, [&](const Reservation::Spare& now) {
            return now.key == then.key && now.left <= then.left;
        });
    };
    return job == before.job && queue == before.queue && host == before.host && until <= before.until &&
           std::ranges::all_of(before.spare, as_much);
}

// ---- The cycle.

bool Cycle::goes_by_events() const {
    return only_jobs_changed(in_) && knows_waiting_jobs();
}

// False: a full cycle has to be run instead; nothing is decided then.
bool Cycle::consider_events() {
    if (s_.algorithm == Algorithm::standard) return consider_standard_events();
    set_up_queues();
    const auto is_shut = [&](QueueSlot queue) {
        return queue != no_slot && (!t_.queues[queue].started || execution_type_reason(state_, queue));
    };
    if (is_shut(submit_) || is_shut(special_)) return false;
    renew_waiting_jobs();
    if (!find_news()) return false;
    // Limits on what users or all jobs together have: one that ended lets others start anywhere.
    const EventsSince& since = in_.events->since;
    limits_all_freed_ =
        !since.ended_in.empty() && (s_.max_user_run_jobs > 0 || s_.max_dedicated_jobs > 0 ||
                                    t_.server.max_running >= 0 || t_.server.max_user_run >= 0 ||
                                    t_.server.max_group_run >= 0 || !t_.server.resources_available.empty());
    if (!consider_drained()) return false;
    for (const JobClass job_class :
         {JobClass::waiting, JobClass::special, JobClass::normal, JobClass::dedicated, JobClass::rest})
        if (!consider_lanes(job_class)) return false;
    for (const JobSlot job : since.changed)
        if (!in_.events->waiting.contains(job)) refuse_if_unserved(job);
    return true;
}

// What the next cycle has to know of this one.
void Cycle::remember() {
    if (in_.events == nullptr) return;
    in_.events->last = in_.now;
    EventMemory& memory = *in_.events;
    memory.started.clear();
    for (const Started& started : started_) memory.started.push_back(t_.jobs.handle[started.job]);
    memory.drains = drains_now();
    memory.drained_vnodes = state_.vnodes->reserved();
    const auto reservations = static_cast<std::ptrdiff_t>(state_.reservations.size());
    if (memory.kept.size() > state_.reservations.size())
        memory.kept.erase(memory.kept.begin() + reservations, memory.kept.end());
    memory.queued = memory.waiting.size();
    memory.passed_over = passed_over_ > 0;
    memory.top_jobs = top_jobs();
    memory.since.forget();
    if (memory.waiting_known && !knows_waiting_jobs()) memory.waiting_known = false;
}

}  // namespace pbs::sched
