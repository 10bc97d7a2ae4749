// The jobs that a cycle looks at, in order: all pending ones, or after single events those that the events
// released. All others were refused before, and nothing that has happened since can let one of them start; so
// the cycle starts what a cycle over all jobs would start. Comments of jobs that it doesn't look at stay
// until the next cycle over all of them.

#include <algorithm>
#include <bit>

#include "server_plugin/scheduler/framework/cycle_parts.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/pending/deal.h"
#include "server_plugin/scheduler/pending/job_size.h"
#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {
namespace {

// Into sizes of which none holds another. With many vnodes and reservations there would be many: then one
// that holds all further ones lets jobs be looked at that none of them holds.
void add_largest(std::vector<JobSize>& sizes, const JobSize& size) {
    constexpr std::size_t most_sizes = 32;
    if (std::ranges::any_of(sizes, [&](const JobSize& known) { return known.holds(size); })) return;
    std::erase_if(sizes, [&](const JobSize& known) { return size.holds(known); });
    if (sizes.size() < most_sizes)
        sizes.push_back(size);
    else
        sizes.back() = most_of(sizes.back(), size);
}

// Turns in a heap: the least goes first.
bool later_turn(const Turn& a, const Turn& b) {
    if (a.turn != b.turn) return a.turn > b.turn;
    return a.rank != b.rank ? a.rank > b.rank : a.key > b.key;
}

}  // namespace

bool goes_by_events(const Settings& s, Instant now) {
    return !s.test_only.holds(now) && s.sorted_job_dumpfile.empty();
}

void EventsSince::forget() {
    everything = lost = started = false;
    changed.clear();
    freed.clear();
    less_of.clear();
}

void EventsSince::all() {
    ++times_all;
    everything = true;
    freed.clear();
    less_of.clear();
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

void EventsSince::job_ended(QueueSlot queue, std::uint32_t owner, std::uint32_t group,
                            std::span<const VnodeSlot> vnodes) {
    if (everything) return;
    using Kind = UseKey::Kind;
    for (const UseKey& key : {UseKey{Kind::queue, queue, 0}, UseKey{Kind::queue_user, queue, owner},
                              UseKey{Kind::queue_group, queue, group}, UseKey{Kind::server, 0, 0},
                              UseKey{Kind::server_user, 0, owner}, UseKey{Kind::server_group, 0, group},
                              UseKey{Kind::dedicated, 0, 0}})
        if (std::ranges::find(less_of, key) == less_of.end()) less_of.push_back(key);
    freed.insert(freed.end(), vnodes.begin(), vnodes.end());
    if (freed.size() > most_freed) all();
}

namespace {

// Nothing but events of jobs has happened, and what the last cycle started runs, or has run.
bool only_jobs_changed(const CycleInput& in) {
    if (!in.by_events || in.events->since.everything) return false;
    const Settings& s = in.policy->settings;
    if (!goes_by_events(s, in.now)) return false;  // as it did before the date of an option
    if (!s.batch_queues.empty() &&
        (in.memory->first_cycle || !in.memory->found_at_start.empty() || !in.memory->early_until.empty()))
        return false;
    const JobTable& jobs = in.tables->jobs;
    return std::ranges::none_of(in.events->started, [&](JobHandle handle) {
        const JobSlot job = jobs.find(handle);
        return job != no_slot && jobs.state[job] == 'Q';
    });
}

}  // namespace

bool Cycle::goes_by_events() const {
    return only_jobs_changed(in_) && knows_pending_jobs();
}

// ---- The jobs in order.

// The user or the queue that a lane of this class is of.
std::uint32_t Cycle::lane_is_of(JobSlot job, JobClass job_class) const {
    if (starts_in_place(job_class)) return t_.jobs.queue[job];
    return has_lane_by_user(job_class) ? t_.jobs.user[job] : 0;
}

LaneId Cycle::lane_of(JobSlot job, JobClass job_class) const {
    return pending_->lane(job_class, lane_is_of(job, job_class));
}

PendingJobs::Entry Cycle::entry_of(const OrderedJob& job, const Chain& chain, const LeastNeeds& needs) const {
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
    PendingJobs::Entry entry;
    entry.job = job.job;
    entry.signature = job.signature;
    order_key(chain, context, job, entry.key);
    entry.size = job_size(job, t_.jobs.walltime[job.job], needs);
    // A deal that begins at a date begins with lanes that are kept.
    const Deal* deal = deal_of(job.job_class, Instant::max());
    if (deal != nullptr && deal->charge != nullptr) entry.charge = deal->charge(s_, t_.jobs, job);
    entry.overdue_from = overdue_from(job.job).time_since_epoch().count();
    return entry;
}

// Are the lanes those of this policy, with all jobs that aren't told of as changed?
bool Cycle::knows_pending_jobs() const {
    const EventMemory* memory = in_.events;
    return memory != nullptr && memory->pending_known && !memory->since.lost &&
           memory->policy == in_.policy && memory->prime_now == state_.prime_now;
}

// Do jobs that nothing happens to stay in their order, as their keys have it?
bool Cycle::order_lasts() const {
    if (in_.policy->formula && in_.policy->formula->changes_with_time()) return false;
    return std::ranges::all_of(queued_classes, [&](JobClass job_class) {
        return key_bits(p_.lane_chain(*in_.policy, job_class, state_.prime_now)) <=
               std::tuple_size_v<PendingKey> * 64;
    });
}

// Puts all jobs of the cycle's lists into their lanes. The lists needn't be in order.
void Cycle::load_pending_jobs() {
    const bool kept = in_.keep_pending_jobs && order_lasts();
    pending_ = kept ? &in_.events->pending : &scratch_->pending;
    pending_->clear();
    std::vector<std::optional<LeastNeeds>> needs(t_.requests.size());
    for (const JobClass job_class : queued_classes) {
        load_pending_jobs(job_class, state_.prime_now, needs);
        classes_[static_cast<std::size_t>(job_class)] = {};
    }
    if (in_.events == nullptr) return;
    EventMemory& memory = *in_.events;
    memory.pending_known = kept;
    memory.policy = in_.policy;
    memory.prime_now = state_.prime_now;
}

// Jobs whose keys don't last have their places in the sorted list instead.
void Cycle::load_pending_jobs(JobClass job_class, bool prime_order,
                              std::vector<std::optional<LeastNeeds>>& needs) {
    std::vector<OrderedJob>& jobs = classes_[static_cast<std::size_t>(job_class)];
    if (jobs.empty()) return;
    const Chain& chain = p_.lane_chain(*in_.policy, job_class, prime_order);
    const bool by_place = !order_lasts();
    const Chain none;
    if (by_place) {
        const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
        sort_by(chain, context, jobs);
    }
    struct Load {
        LaneId lane;
        std::size_t jobs = 0;
        std::vector<PendingJobs::Entry> entries{};
    };
    std::vector<Load> loads;
    std::vector<std::uint32_t> load_of(std::max<std::size_t>(t_.strings.size(), t_.queues.size()) + 1,
                                       UINT32_MAX);
    for (const OrderedJob& job : jobs) {
        std::uint32_t& load = load_of[lane_is_of(job.job, job_class)];
        if (load == UINT32_MAX) {
            load = static_cast<std::uint32_t>(loads.size());
            loads.push_back({lane_of(job.job, job_class)});
        }
        ++loads[load].jobs;
    }
    // In the order of the list, which is about that of the tables.
    for (std::size_t place = 0; place < jobs.size(); ++place) {
        const OrderedJob& job = jobs[place];
        Load& load = loads[load_of[lane_is_of(job.job, job_class)]];
        if (load.entries.empty()) load.entries.reserve(load.jobs);
        const std::uint32_t request = t_.jobs.request[job.job];
        if (!needs[request]) needs[request] = least_needs(t_.requests[request], t_.resources);
        load.entries.push_back(entry_of(job, by_place ? none : chain, *needs[request]));
        if (by_place) load.entries.back().key = {place};
    }
    for (Load& load : loads) {
        pending_->fill(load.lane, load.entries);
        load.entries = {};
    }
}

// What arrived or changed since is put into its lane; what became a waiting job moves.
void Cycle::renew_pending_jobs() {
    EventMemory& memory = *in_.events;
    auto& changed = memory.since.changed;
    pending_->find_due(in_.now, changed);
    sort_unique(changed);
    std::erase_if(changed, [&](JobSlot job) { return t_.jobs.state[job] != 'Q'; });
    for (const JobSlot job : changed) {
        pending_->remove(job);
        const auto job_class = class_of(job);
        if (!job_class) continue;
        pending_->insert(
            lane_of(job, *job_class),
            entry_of(ordered(job, *job_class), p_.lane_chain(*in_.policy, *job_class, state_.prime_now),
                     least_needs(t_.requests[t_.jobs.request[job]], t_.resources)));
    }
}

// Jobs that are looked at, whatever was released.
void Cycle::find_news() {
    const PendingJobs& pending = *pending_;
    for (const JobSlot job : in_.events->since.changed)
        if (pending.contains(job)) news_.push_back({pending.lane_of(job), pending.position_of(job)});
    sort_unique(news_);
}

// ---- What events released.

// A job that ended made room on all vnodes of its host, where the number of jobs on hosts is limited.
void Cycle::add_vnodes_of_hosts(std::vector<VnodeSlot>& freed) const {
    const std::vector<VnodeSlot> own = freed;
    for (const VnodeSlot vnode : own) {
        const auto beside = t_.vnodes.of_host(vnode);
        freed.insert(freed.end(), beside.begin(), beside.end());
    }
    sort_unique(freed);
}

// Notes the blockers that are lifted for jobs of any size. At the beginning of a cycle no job holds up
// others, and nothing is reserved.
void Cycle::note_lifted() {
    EventMemory& memory = *in_.events;
    lifted_ = blocker::held_up | blocker::cycle;
    for (auto& at = memory.instants; !at.empty() && *at.begin() <= in_.now; at.erase(at.begin()))
        lifted_ |= blocker::time(*at.begin());
    if (memory.since.started) lifted_ |= blocker::start;
    if (s_.max_jobs > 0) add_vnodes_of_hosts(memory.since.freed);
    if (p_.after_refusal != nullptr && p_.after_refusal->begin != nullptr) p_.after_refusal->begin(*this);
}

// Narrows `most` to jobs whose chunks fit the room.
JobSize Cycle::fit(const QueueView& view, JobSize most, const Vnodes::Room& room) const {
    const auto& known = t_.resources.known();
    const auto at_most = [&](std::uint32_t resource, std::int64_t amount) {
        return std::min(amount, number_of(view.queue->resources_max, resource)
                                    .value_or(std::numeric_limits<std::int64_t>::max()));
    };
    most.ncpus = narrow(at_most(known.ncpus, free_at_least(room.first)));
    most.mem = megabytes(at_most(known.mem, free_at_least(room.second)));
    return most;
}

// What the vnode, or its host, has for jobs that end before its reservations begin, and for those that don't.
void Cycle::add_room_of(const QueueView& view, VnodeSlot vnode, std::vector<JobSize>& rooms) const {
    const auto& known = t_.resources.known();
    Vnodes& vnodes = *state_.vnodes;
    const auto until = [&](Instant end) {
        return vnodes.host_room_until(view.pool, vnode, known.ncpus, known.mem, end);
    };
    for (const Reservation& reservation : state_.reservations) {
        JobSize most = any_size;
        most.walltime = narrow((reservation.start - in_.now).count());
        add_largest(rooms, fit(view, most, until(reservation.start)));
    }
    add_largest(rooms, fit(view, any_size, until(Instant::max())));
}

void Cycle::add_rooms(const QueueView& view, bool everywhere, std::vector<JobSize>& rooms) {
    if (everywhere) {
        for (const Vnodes::Room& room : rooms_of(view.pool)) add_largest(rooms, fit(view, any_size, room));
        return;
    }
    const Vnodes& vnodes = *state_.vnodes;
    const bool by_host = chunks_by(t_, s_) == Chunks::divided;
    const Vnode* last = nullptr;
    for (const VnodeSlot vnode : in_.events->since.freed) {
        if (!vnodes.is_open(view.pool, vnode)) continue;
        if (by_host && last != nullptr && last->host == vnodes[vnode].host) continue;
        last = &vnodes[vnode];
        add_room_of(view, vnode, rooms);
    }
}

const std::vector<Vnodes::Room>& Cycle::rooms_of(PoolId pool) {
    Rooms& rooms = rooms_[pool];
    if (rooms.started == started_.size()) return rooms.list;
    const auto& known = t_.resources.known();
    rooms.started = started_.size();
    rooms.list = state_.vnodes->largest_rooms(pool, known.ncpus, known.mem);
    return rooms.list;
}

// What limits leave of a use; nothing: there is no such limit, or nothing is left.
std::optional<JobSize> Cycle::left_of(const UseKey& key) const {
    std::optional<JobSize> most;
    for (const Filter* filter : filters_) {
        if (filter->leaves == nullptr) continue;
        if (const auto by_filter = filter->leaves(state_, key))
            most = most ? least_of(*most, *by_filter) : *by_filter;
    }
    return most && most->holds({}) ? most : std::nullopt;
}

bool Cycle::is_of(const UseKey& key, JobSlot job) const {
    return (key.is_of_owner() && t_.jobs.owner[job] == key.of) ||
           (key.is_of_group() && t_.jobs.group[job] == key.of);
}

// What limits leave now, by blocker: of uses that a job's end has made less since the last cycle (`lifted`),
// and of other uses that weren't full when they were looked at last (`open`).
Cycle::Left Cycle::left_of_limits() {
    EventMemory& memory = *in_.events;
    Left left;
    left.lifted.fill(no_size);
    left.open.fill(no_size);
    const auto add = [&](const UseKey& key, std::array<JobSize, 32>& sizes) {
        const auto most = left_of(key);
        if (!most) return false;
        JobSize& of_blocker = sizes[static_cast<std::size_t>(std::countr_zero(blocker::less_of(key)))];
        of_blocker = most_of(of_blocker, *most);
        return true;
    };
    const auto& lifted = memory.since.less_of;
    std::erase_if(memory.open, [&](const UseKey& key) {
        return std::ranges::find(lifted, key) != lifted.end() || !add(key, left.open);
    });
    for (const UseKey& key : lifted)
        if (!key.is_of_owner() && !key.is_of_group() && add(key, left.lifted)) memory.open.push_back(key);
    while (memory.open.size() > most_open) {
        memory.always_open |= blocker::less_of(memory.open.front());
        memory.open.erase(memory.open.begin());
    }
    return left;
}

// Jobs that no vnode has room for needn't be looked at, whatever else was lifted; those of single users and
// groups are: they are few.
void Cycle::find_released_limits(Targets& targets, Released& released) {
    released.as_of = state_number();
    released.vain = false;
    Releases& list = released.list;
    list.clear();
    const Left left = left_of_limits();
    std::vector<JobSize> freed;
    std::vector<JobSize> everywhere;
    const bool any_lifted =
        std::ranges::any_of(left.lifted, [](const JobSize& most) { return most.holds({}); });
    for (const QueueView* view : targets) {
        add_rooms(*view, room_everywhere_, freed);
        if (any_lifted) add_rooms(*view, true, everywhere);
    }
    // While jobs were held up nothing was looked at, whatever was lifted.
    const auto& held = in_.events->top_jobs.held_up;
    const bool was_held_up = !targets.empty() && std::ranges::find(held, targets[0]->slot) != held.end();
    list.add({was_held_up ? ~Blockers{0} : lifted_ | blocker::anything | blocker::start, any_size});
    const auto add = [&](std::span<const JobSize> rooms, const std::array<JobSize, 32>& by_blocker) {
        for (const JobSize& room : rooms)
            for (std::size_t i = 0; i < by_blocker.size(); ++i)
                if (by_blocker[i].holds({})) list.add({Blockers{1} << i, least_of(room, by_blocker[i])});
    };
    for (const JobSize& room : freed) list.add({blocker::room | in_.events->always_open, room});
    add(freed, left.open);
    add(everywhere, left.lifted);
    released.of_users.clear();
    released.with_users = list;
    for (const UseKey& key : in_.events->since.less_of) {
        if (!key.is_of_owner() && !key.is_of_group()) continue;
        const auto most = left_of(key);
        if (!most) continue;
        released.of_users.push_back({key, *most});
        released.with_users.add({blocker::less_of(key), *most});
    }
}

// What starts leaves less for others, so what was released once passes over no job that may start. That is
// good enough until a job of it doesn't start, or as many started as vnodes gave something back.
Released& Cycle::released_of(Targets& targets) {
    Released& released = targets.released;
    const std::size_t since = state_number() - released.as_of;
    const bool good = released.as_of != SIZE_MAX &&
                      (since == 0 || (!released.vain && since < in_.events->since.freed.size()));
    if (!good) find_released_limits(targets, released);
    return released;
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

// Is there a place on the vnodes of any of the queues, whatever else there may be against the job? Of several
// kinds of chunks, for each of them alone: what starts in the cycle makes no room for any. Asked once for all
// that ask for the same: no place becomes one in this cycle, and one is one until a job starts.
bool Cycle::may_have_room(std::uint32_t signature, Targets& targets, Released& released) {
    const std::uint32_t number = t_.signatures[signature].request;
    const Request& request = t_.requests[number];
    if (is_told_by_size(request, t_.resources) || t_.signatures[signature].run_host != 0) return true;
    std::size_t& known = released.room.try_emplace(number, SIZE_MAX).first->second;
    if (known == 0) return false;
    if (known == started_.size() + 1) return true;
    PlaceRules rules = state_.place_rules();
    rules.max_load_percent = rules.max_systime_percent = 0;  // which change without an event
    const bool room = std::ranges::any_of(
        targets, [&](const QueueView* view) { return each_kind_has_room(request, view->pool, rules); });
    known = room ? started_.size() + 1 : 0;
    return room;
}

// ---- In order.

Targets& Cycle::targets_of_lane(const Lane& lane) {
    return starts_in_place(lane.job_class) ? in_place_.at(lane.of) : batch_;
}

// Does the next job of the class, in these queues, matter to others even if it doesn't start? A queue may be
// drained for it, or it may hold others up.
bool Cycle::is_wanted(const Targets& targets, JobClass job_class) const {
    return p_.after_refusal != nullptr && p_.after_refusal->wants(*this, targets, job_class);
}

// The next job of the lane, from the turn's place on, that was released.
bool Cycle::find_released(Turn& turn, Targets& targets) {
    PendingJobs& pending = *pending_;
    if (!targets.empty() && is_held_up(*targets[0])) return false;
    Released& released = released_of(targets);
    const auto is_of_any = [&](JobSlot job) {
        return std::ranges::any_of(released.of_users,
                                   [&](const Released::OfUser& lifted) { return is_of(lifted.key, job); });
    };
    const Lane& lane = pending[turn.lane];
    const bool of_one_user = has_lane_by_user(lane.job_class);
    const bool by_user =
        !released.of_users.empty() && (!of_one_user || is_of_any(pending.job(turn.lane, turn.at)));
    const Releases& list = by_user ? released.with_users : released.list;
    const Blockers others = released.list.blockers() & ~blocker::room;
    for (; pending.find(turn.lane, list, turn.at); ++turn.at.index) {
        const Blockers parked = pending.blockers_of(turn.lane, turn.at);
        if (by_user && is_of_any(pending.job(turn.lane, turn.at))) return true;
        if (by_user && !released.list.hold(parked, pending.size_of(turn.lane, turn.at))) continue;
        if ((parked & others) != 0 ||
            may_have_room(pending.signature_of(turn.lane, turn.at), targets, released))
            return true;
    }
    return false;
}

// The next job of a lane, at or after the turn's place, that is to be looked at.
bool Cycle::next_turn(Turn& turn, JobClass job_class) {
    const PendingJobs& pending = *pending_;
    if (!pending.settle(turn.lane, turn.at)) return false;
    const Lane& lane = pending[turn.lane];
    if (!everything_ && !is_wanted(targets_of_lane(lane), job_class)) {
        settle_reservations();
        const auto from = turn.at;
        const bool found = find_released(turn, targets_of_lane(lane));
        const auto next = std::ranges::lower_bound(news_, News{turn.lane, from});
        const bool is_new = next != news_.end() && next->lane == turn.lane;
        if (!found && !is_new) return false;
        if (!found || (is_new && next->at < turn.at)) turn.at = next->at;
    }
    turn.as_of = state_number();
    turn.key = pending.key(turn.lane, turn.at);
    if (deal_ != nullptr) {
        turn.turn = begin_of(turn.lane);
        if (deal_->charge != nullptr) turn.turn += pending.charge_before(turn.lane, turn.at);
    }
    return true;
}

// The lanes of a class that may have a turn.
void Cycle::lanes_with_turns(JobClass job_class, std::vector<LaneId>& lanes) {
    PendingJobs& pending = *pending_;
    const auto all = pending.lanes_of(job_class);
    lanes.clear();
    if (everything_ || starts_in_place(job_class) || is_wanted(batch_, job_class)) {
        lanes.assign(all.begin(), all.end());
        return;
    }
    settle_reservations();
    const Released& released = released_of(batch_);
    pending.find_lanes(job_class, released.list, lanes);
    const std::size_t found = lanes.size();
    for (const Released::OfUser& lifted : released.of_users)
        std::ranges::copy_if(all, std::back_inserter(lanes), [&](LaneId lane) {
            return !has_lane_by_user(job_class) || is_of(lifted.key, pending.job(lane, {}));
        });
    for (const News& news : news_)
        if (pending[news.lane].job_class == job_class) lanes.push_back(news.lane);
    if (lanes.size() == found) return;
    sort_unique(lanes);
}

// The job of the turn is looked at, and parked if it doesn't start. Returns its charge.
std::int64_t Cycle::take_turn(Turn& turn, JobClass job_class) {
    PendingJobs& pending = *pending_;
    Targets& targets = targets_of_lane(pending[turn.lane]);
    const PendingJobs::Taken taken = pending.at(turn.lane, turn.at);
    const OrderedJob job{taken.job, job_class, static_cast<std::uint32_t>(taken.nodes), taken.signature, 0};
    ++turns_of_class_;
    if (!s_.sorted_job_dumpfile.empty() && !only_early_) turns_in_order_.push_back(job);
    const std::size_t before = started_.size();
    pending.park(turn.lane, turn.at, consider(job, targets));
    if (started_.size() == before) targets.released.vain = true;
    ++turn.at.index;
    return taken.charge;
}

// Lanes are in order and the tables aren't: what the next turn of a lane will read is fetched while others
// have theirs.
void Cycle::fetch(const Turn& turn, JobClass job_class) const {
    const PendingJobs& pending = *pending_;
    const auto ahead = pending.ahead(turn.lane, turn.at, 1);
    if (!ahead) return;
    const PendingJobs::Taken next = pending.at(turn.lane, *ahead);
    const JobSlot job = next.job;
    const std::uint32_t signature = next.signature;
    const auto& of_signature = verdict_of_[static_cast<std::size_t>(job_class)];
    if (signature < of_signature.size()) __builtin_prefetch(&of_signature[signature]);
    if (!user_numbers_.empty()) __builtin_prefetch(&t_.jobs.user[job]);
    __builtin_prefetch(&t_.jobs.queue[job]);
    __builtin_prefetch(&t_.jobs.request[job]);
    __builtin_prefetch(&t_.jobs.owner[job]);
    __builtin_prefetch(&t_.jobs.walltime[job]);
    __builtin_prefetch(&t_.requests[t_.signatures[signature].request]);
}

// The deal of the class's lanes; null: by the keys alone.
const Deal* Cycle::deal_of(JobClass job_class, Instant at) const {
    for (const Deal* deal : p_.deals)
        if (deal->of_users == has_lane_by_user(job_class) &&
            !(deal->spares_overdue && job_class == JobClass::overdue) && deal->wanted(s_, at))
            return deal;
    return nullptr;
}

DealContext Cycle::deal_context(LaneId lane) {
    if (!deal_->of_users && queue_ranks_.empty()) queue_ranks_ = queue_ranks();
    const std::int64_t usage =
        deal_->of_users ? usage_units(t_.usage.usage_of(t_.user_of(pending_->job(lane, {})))) : 0;
    return {s_, t_.jobs, t_.queues, queue_ranks_, usage};
}

DealtLane Cycle::dealt_lane(LaneId lane) const {
    return {deal_->of_users, deal_->of_users ? no_slot : (*pending_)[lane].of, pending_->job(lane, {})};
}

std::int64_t Cycle::begin_of(LaneId lane) {
    return deal_->begin(deal_context(lane), dealt_lane(lane));
}

// Goes through the jobs of a class. False: only a cycle over all jobs knows the order.
bool Cycle::consider_class(JobClass job_class) {
    turns_of_class_ = 0;
    const PendingJobs& pending = *pending_;
    if (pending.lanes_of(job_class).empty()) return true;
    deal_ = deal_of(job_class, in_.now);
    const bool in_circle = deal_ != nullptr && deal_->in_circle;
    if (in_circle && everything_) {
        deal_class(job_class);
        return true;
    }
    std::vector<Turn>& next = scratch_->turns;
    next.clear();
    const auto push = [&](Turn turn) {
        if (!next_turn(turn, job_class)) return;
        next.push_back(turn);
        std::ranges::push_heap(next, later_turn);
    };
    const auto pop = [&] {
        std::ranges::pop_heap(next, later_turn);
        const Turn turn = next.back();
        next.pop_back();
        return turn;
    };
    lanes_with_turns(job_class, scratch_->lanes);
    for (const LaneId lane : scratch_->lanes) {
        Turn turn{lane, {}, 0, 0, {}, 0};
        if (deal_ != nullptr && deal_->rank != nullptr)
            turn.rank = deal_->rank(deal_context(lane), dealt_lane(lane));
        push(turn);
    }
    while (!next.empty()) {
        Turn turn = pop();
        if (turn.as_of != state_number()) {  // less is free now than when it was found
            push(turn);
            continue;
        }
        if (in_circle && !next.empty() && next.front().turn == turn.turn) {
            std::vector<Turn> tied = {turn};
            while (!next.empty() && next.front().turn == turn.turn) tied.push_back(pop());
            // Those that don't start may be told so in any order, once nothing is to be kept for them.
            if (!is_wanted(batch_, job_class)) {
                const auto waits = std::partition(tied.begin(), tied.end(), [&](const Turn& other) {
                    return may_start_now(other, job_class);
                });
                std::for_each(waits, tied.end(), [&](Turn other) {
                    take_turn(other, job_class);
                    push(other);
                });
                tied.erase(waits, tied.end());
            }
            if (tied.empty()) continue;
            const auto chosen = tied.size() == 1 ? tied.begin() : first_of_equals(tied);
            if (chosen == tied.end()) return false;
            turn = *chosen;
            tied.erase(chosen);
            for (const Turn& other : tied) {
                next.push_back(other);
                std::ranges::push_heap(next, later_turn);
            }
        }
        take_turn(turn, job_class);
        if (rejects_more_ && !everything_) return false;  // jobs that wait for whatever else
        push(turn);
    }
    return true;
}

// All jobs of the class, as the permutation by past usage deals them.
void Cycle::deal_class(JobClass job_class) {
    const PendingJobs& pending = *pending_;
    std::vector<Turn> users;
    for (const LaneId lane : pending.lanes_of(job_class)) {
        Turn turn{lane, {}, 0, 0, pending.key(lane, {}), 0};
        if (pending.settle(lane, turn.at)) users.push_back(turn);
    }
    std::ranges::sort(users, [&](const Turn& a, const Turn& b) {
        const std::uint32_t x = pending[a.lane].jobs;
        const std::uint32_t y = pending[b.lane].jobs;
        return x != y ? x < y : a.key < b.key;
    });
    std::vector<std::int64_t> usage;
    for (const Turn& user : users) usage.push_back(begin_of(user.lane));
    PastUsageDeal deal(std::move(usage));
    while (!deal.is_over()) {
        Turn& turn = users[deal.next()];
        const std::int64_t charge = take_turn(turn, job_class);
        deal.dealt(charge, pending.settle(turn.lane, turn.at));
        fetch(turn, job_class);
    }
}

// Who of users with equal usage is picked first by the permutation: the end, if only the whole of it tells.
std::vector<Turn>::iterator Cycle::first_of_equals(std::vector<Turn>& tied) {
    std::vector<UsageLane> lanes;
    const PendingJobs& pending = *pending_;
    for (const LaneId id : pending.lanes_of(JobClass::normal))
        lanes.push_back({id, pending[id].jobs, pending.key(id, {}), begin_of(id)});
    for (const LaneId id : picks_at(pending, std::move(lanes), tied.front().turn)) {
        const auto found = std::ranges::find(tied, id, &Turn::lane);
        if (found != tied.end()) return found;
    }
    return tied.end();
}

bool Cycle::may_start_now(const Turn& turn, JobClass job_class) {
    const OrderedJob job = ordered(pending_->job(turn.lane, turn.at), job_class);
    Candidate c = candidate(job);
    const bool hpm_wanted = state_.hpm_wanted;
    const bool may = judge(job, c, targets_of(job), {}).view != nullptr;
    state_.hpm_wanted = hpm_wanted;
    return may;
}

// ---- For whom a queue is drained.

// Once, when the jobs that something is kept for have been looked at: is what is kept what was before?
void Cycle::settle_reservations() {
    if (std::exchange(reservations_settled_, true)) return;
    if (p_.after_refusal != nullptr && p_.after_refusal->settle != nullptr) p_.after_refusal->settle(*this);
}

// What was refused for a job in earlier cycles may start now if less is kept for it, or kept elsewhere.
void Cycle::release_drained() {
    EventMemory& memory = *in_.events;
    const std::vector<DrainFor> drains = drains_now();
    if (reserved_kept_ < memory.drains.size()) {
        if (memory.drained_vnodes.size() > EventsSince::most_freed)
            room_everywhere_ = true;
        else
            memory.since.freed.insert(memory.since.freed.end(), memory.drained_vnodes.begin(),
                                      memory.drained_vnodes.end());
    }
    for (const DrainFor& before : memory.drains) {
        const auto now = std::ranges::find(drains, before.job, &DrainFor::job);
        if (now == drains.end() || !now->holds_back_as_much_as(before)) {
            const bool refused =
                std::ranges::any_of(before.spare, [](const auto& spare) { return spare.refused; });
            if (refused) lifted_ |= blocker::reserved;
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

TopJobs Cycle::top_jobs() const {
    const bool limits =
        std::ranges::any_of(state_.reservations, [](const Reservation& r) { return !r.spare.empty(); });
    TopJobs top{limits, state_.vnodes->reserved(), {}};
    if (held_up_ > 0)
        for (const QueueView& view : views_)
            if (is_held_up(view)) top.held_up.push_back(view.slot);
    return top;
}

// ---- The cycle.

// Those that events released, or all. False: a cycle over all jobs has to be run instead; nothing is decided
// then.
bool Cycle::consider_pending() {
    const bool knows = knows_pending_jobs() && !finds_at_start();
    if (!knows) {
        collect_jobs();
        load_pending_jobs();
    } else {
        pending_ = &in_.events->pending;
        set_up_queues();
        renew_pending_jobs();
    }
    if (everything_) {
        if (in_.events != nullptr) {
            in_.events->open.clear();
            in_.events->always_open = 0;
        }
    } else {
        find_news();
        note_lifted();
    }
    restart_found();
    for (const JobClass job_class : queued_classes)
        if (!consider_class(job_class)) return false;
    return true;
}

// The jobs of a class once more, in another order, for what became possible.
void Cycle::consider_again(JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order) {
    PendingJobs again;
    PendingJobs* const before = std::exchange(pending_, &again);
    classes_[static_cast<std::size_t>(job_class)] = std::move(jobs);
    std::vector<std::optional<LeastNeeds>> needs(t_.requests.size());
    load_pending_jobs(job_class, prime_order, needs);
    consider_class(job_class);
    pending_ = before;
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
    memory.top_jobs = top_jobs();
    memory.since.forget();
    if (memory.pending_known && (!knows_pending_jobs() || finds_at_start())) memory.pending_known = false;
}

}  // namespace pbs::sched
