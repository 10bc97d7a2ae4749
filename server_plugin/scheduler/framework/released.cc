#include "server_plugin/scheduler/framework/released.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/pending/job_size.h"

namespace pbs::sched {
namespace {

// Adds a size to a list in which no size contains another. Many vnodes and reservations would give many
// sizes. So in a list of kMostSizes, the last size grows to contain each further one, at the price that some
// jobs are considered in vain.
void add_largest(std::vector<JobSize>& sizes, const JobSize& size) {
    constexpr std::size_t kMostSizes = 32;
    if (std::ranges::any_of(sizes, [&](const JobSize& known) { return known.holds(size); })) return;
    std::erase_if(sizes, [&](const JobSize& known) { return size.holds(known); });
    if (sizes.size() < kMostSizes)
        sizes.push_back(size);
    else
        sizes.back() = most_of(sizes.back(), size);
}

// Adds a release for each room and each blocker under which jobs of some size are released.
void add_rooms_by_blocker(Releases& list, std::span<const JobSize> rooms,
                          const std::array<JobSize, 32>& by_blocker) {
    for (const JobSize& room : rooms)
        for (std::size_t i = 0; i < by_blocker.size(); ++i)
            if (by_blocker[i].holds({})) list.add({Blockers{1} << i, least_of(room, by_blocker[i])});
}

}  // namespace

// Notes the blockers that are lifted for jobs of any size. Two of them are always lifted when a cycle begins,
// because no job holds up others then, and nothing is reserved.
void ReleasedJobs::begin() {
    assert(in_.events != nullptr && !c_.everything);  // a cycle over all jobs needs no release
    EventMemory& memory = *in_.events;
    c_.lifted = blocker::kHeldUp | blocker::kCycle;
    for (auto& at = memory.instants; !at.empty() && *at.begin() <= in_.now; at.erase(at.begin()))
        c_.lifted |= blocker::time(*at.begin());
    if (memory.since.started) c_.lifted |= blocker::kStart;
    if (memory.since.told) c_.lifted |= blocker::kTold;
    // When a job ends, all vnodes of its host may have room for jobs to which the number of jobs on a host
    // matters.
    if (s_.max_jobs > 0 || t_.requests.wants_hosts() || t_.vnodes.gives_hosts())
        t_.vnodes.widen_to_hosts(memory.since.freed);
    // A vnode that takes no jobs counts in its placement sets with the amounts that jobs hold. When such jobs
    // end, a set may have become too small for a waiting job, which may then find a place on any vnodes.
    c_.room_everywhere =
        (memory.since.started_alone && memory.refused_by_sets) ||
        std::ranges::any_of(memory.since.freed, [&](VnodeSlot vnode) { return !t_.vnodes[vnode].free; });
    note_open_limits();
    static_cast<void>(left_of_limits());  // notes the other open limits, also if no lane is searched
}

// Notes which limits on owners and groups let jobs pass again. If nothing is left of one, those that it
// refused earlier needn't be considered before it counts fewer jobs.
void ReleasedJobs::note_open_limits() {
    EventMemory& memory = *in_.events;
    memory.pending.advance();
    for (const UseKey& key : memory.since.less_of) {
        if (!key.is_of_owner() && !key.is_of_group()) continue;
        if (left_of(key))
            memory.open_of_users.add(key, memory.pending.clock());
        else
            memory.open_of_users.remove(key);
    }
}

bool ReleasedJobs::settle() {
    if (std::exchange(settled_, true)) return false;
    for (const auto& rule : c_.after_refusal) rule->settle();
    return true;
}

// Reduces `most` to jobs whose chunks fit into the free amounts.
JobSize ReleasedJobs::fit(const QueueView& view, JobSize most, const Vnodes::Room& room) const {
    const auto& known = t_.resources.known();
    const auto at_most = [&](std::uint32_t resource, std::int64_t amount) {
        return std::min(amount, number_of(view.queue->resources_max, resource)
                                    .value_or(std::numeric_limits<std::int64_t>::max()));
    };
    most.ncpus = narrow(at_most(known.ncpus, free_at_least(room.first)));
    most.mem = megabytes(at_most(known.mem, free_at_least(room.second)));
    return most;
}

// Adds the free amounts of the vnode, or of its host, to `rooms`: for jobs that end before each reservation
// begins, and for jobs that outlast all reservations. Reservations don't bind jobs of advance reservations.
void ReleasedJobs::add_room_of(const QueueView& view, VnodeSlot vnode, std::vector<JobSize>& rooms) const {
    const auto& known = t_.resources.known();
    Vnodes& vnodes = *state_.vnodes;
    const auto until = [&](Instant end) {
        return vnodes.host_room_until(view.pool, vnode, known.ncpus, known.mem, end);
    };
    if (view.booking != kNoSlot) return add_largest(rooms, fit(view, kAnySize, until(Instant::min())));
    for (const Reservation& reservation : state_.reservations) {
        JobSize most = kAnySize;
        most.walltime = narrow((reservation.start - in_.now).count());
        add_largest(rooms, fit(view, most, until(reservation.start)));
    }
    add_largest(rooms, fit(view, kAnySize, until(Instant::max())));
}

void ReleasedJobs::add_rooms(const QueueView& view, bool everywhere, std::vector<JobSize>& rooms) {
    if (everywhere) {
        for (const Vnodes::Room& room : rooms_of(view.pool)) add_largest(rooms, fit(view, kAnySize, room));
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

const std::vector<Vnodes::Room>& ReleasedJobs::rooms_of(PoolId pool) {
    Rooms& rooms = rooms_[pool];
    if (rooms.started == started_.size()) return rooms.list;
    const auto& known = t_.resources.known();
    rooms.started = started_.size();
    rooms.list = state_.vnodes->largest_rooms(pool, known.ncpus, known.mem);
    return rooms.list;
}

// Returns the size of the largest job that all limits on this use still admit; nullopt: the use has no limit,
// or nothing is left.
std::optional<JobSize> ReleasedJobs::left_of(const UseKey& key) const {
    std::optional<JobSize> most;
    for (const Filter* filter : c_.setup.leaving) {
        if (const auto by_filter = filter->left(state_, key))
            most = most ? least_of(*most, *by_filter) : *by_filter;
    }
    return most && most->holds({}) ? most : std::nullopt;
}

// Returns the amounts that limits leave now, by blocker: of uses that have decreased since the last cycle
// because a job ended (`lifted`), and of other uses that weren't full at the last check (`open`).
ReleasedJobs::LeftByLimits ReleasedJobs::left_of_limits() {
    EventMemory& memory = *in_.events;
    LeftByLimits left;
    left.lifted.fill(kNoSize);
    left.open.fill(kNoSize);
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
    while (memory.open.size() > kMostOpen) {
        memory.always_open |= blocker::less_of(memory.open.front());
        memory.open.erase(memory.open.begin());
    }
    return left;
}

const std::vector<JobSize>& ReleasedJobs::rooms_anywhere(CandidateQueues& queues) {
    Released& released = queues.released;
    if (!released.anywhere) {
        released.anywhere.emplace();
        for (const QueueView* view : queues) add_rooms(*view, true, *released.anywhere);
    }
    return *released.anywhere;
}

bool ReleasedJobs::was_held_up(const CandidateQueues& queues) const {
    const auto& held = in_.events->held_up;
    return !queues.empty() && std::ranges::find(held, queues[0]->slot) != held.end();
}

// Returns the blockers that are lifted for jobs of any size. If an earlier job of the queue held the others
// up, they were skipped, and their blockers aren't known: all of them are released, whatever was lifted.
Blockers ReleasedJobs::lifted_whatever_size(bool was_held_up) const {
    return was_held_up ? ~Blockers{0} : c_.lifted | blocker::kAnything | blocker::kStart;
}

// Finds the releases: which parked jobs may start now. Jobs that fit on no vnode needn't be considered,
// whatever else was lifted.
void ReleasedJobs::find(CandidateQueues& queues, Released& released) {
    released.as_of = c_.state_number();
    released.missed = false;
    released.settled = settled_;
    released.everywhere = c_.room_everywhere;
    released.anywhere.reset();
    released.behind.reset();
    Releases& list = released.list;
    list.clear();
    const LeftByLimits left = left_of_limits();
    std::ranges::transform(left.lifted, left.open, released.left.begin(), most_of);
    released.freed.clear();
    for (const QueueView* view : queues) add_rooms(*view, c_.room_everywhere, released.freed);
    list.add({lifted_whatever_size(was_held_up(queues)), kAnySize});
    for (const JobSize& room : released.freed) list.add({blocker::kRoom | in_.events->always_open, room});
    add_rooms_by_blocker(list, released.freed, left.open);
    const auto is_any = [](const JobSize& most) { return most.holds({}); };
    if (std::ranges::any_of(left.lifted, is_any))
        add_rooms_by_blocker(list, rooms_anywhere(queues), left.lifted);
    find_of_users(queues);
}

// Finds what the open limits of all users release, as if each left any amount.
void ReleasedJobs::find_of_users(CandidateQueues& queues) {
    UserReleases& out = queues.released.of_users;
    out = {};
    Blockers lifted = 0;
    Blockers open_before = 0;
    in_.events->open_of_users.visit_all([&](const OpenLimits::Open& open) {
        const bool is_lifted = open.since == in_.events->pending.clock();
        (is_lifted ? lifted : open_before) |= blocker::less_of(open.key);
        out.parked_before = std::max(out.parked_before, open.since);
    });
    const auto add = [&](Blockers blockers, std::span<const JobSize> rooms) {
        if (blockers == 0) return;
        for (const JobSize& room : rooms) out.list.add({blockers, room});
    };
    add(open_before, queues.released.freed);
    if (lifted != 0) add(lifted, rooms_anywhere(queues));
}

// Adds to `list` what a limit on a user releases of which so much is left: where vnodes became freer, or
// anywhere, if the limit counts fewer jobs now.
void ReleasedJobs::add_open(const OpenLimits::Open& open, const JobSize& left, CandidateQueues& queues,
                            bool anywhere, UserReleases& list) {
    const bool is_lifted = open.since == in_.events->pending.clock();
    for (const JobSize& room : anywhere || is_lifted ? rooms_anywhere(queues) : queues.released.freed)
        list.list.add({blocker::less_of(open.key), least_of(room, left)});
    list.parked_before = std::max(list.parked_before, open.since);
}

const UserReleases* ReleasedJobs::of_user(std::uint32_t owner, std::uint32_t group, CandidateQueues& queues) {
    Released::OfUser& known = queues.released.of_user[std::uint64_t{owner} << 32 | group];
    if (known.as_of != c_.state_number()) {
        known = {c_.state_number(), {}};
        add_open_of(owner, group, queues, false, known.releases);
    }
    return known.releases.list.empty() ? nullptr : &known.releases;
}

void ReleasedJobs::add_open_of(std::uint32_t owner, std::uint32_t group, CandidateQueues& queues,
                               bool anywhere, UserReleases& list) {
    const auto add = [&](const OpenLimits::Open& open) {
        const auto left = left_of(open.key);
        if (left) add_open(open, *left, queues, anywhere, list);
        return left.has_value();
    };
    in_.events->open_of_users.visit(EntityKind::user, owner, add);
    in_.events->open_of_users.visit(EntityKind::group, group, add);
}

const UserReleases* ReleasedJobs::of_lane(const Lane& lane, CandidateQueues& queues) {
    Released& released = queues.released;
    if (lane.behind_since == 0) {
        if (released.of_users.list.empty()) return nullptr;
        return lane.of_one_user ? of_user(lane.owner, lane.group, queues) : &released.of_users;
    }
    if (!released.behind) {
        released.behind.emplace();
        for (const JobSize& room : rooms_anywhere(queues))
            released.behind->add({blocker::kRoom | in_.events->always_open, room});
        add_rooms_by_blocker(*released.behind, rooms_anywhere(queues), released.left);
    }
    UserReleases& out = released.of_lane;
    out = {*released.behind, 0, 0};
    const auto& lifted_at = in_.events->lifted_at;
    for (std::size_t i = 0; i < lifted_at.size(); ++i)
        if (lifted_at[i] >= lane.behind_since) out.any_size |= Blockers{1} << i;
    out.list.add({out.any_size, kAnySize});
    if (lane.of_one_user) {
        add_open_of(lane.owner, lane.group, queues, true, out);
    } else {
        Blockers open_limits = 0;
        in_.events->open_of_users.visit_all(
            [&](const OpenLimits::Open& open) { open_limits |= blocker::less_of(open.key); });
        for (const JobSize& room : rooms_anywhere(queues)) out.list.add({open_limits, room});
    }
    out.parked_before = in_.events->pending.clock();
    return &out;
}

bool ReleasedJobs::is_closed(const Lane& lane) const {
    const OpenLimits& limits = in_.events->open_of_users;
    return lane.closed_at != 0 && lane.of_one_user &&
           std::max(limits.last_opened(EntityKind::user, lane.owner),
                    limits.last_opened(EntityKind::group, lane.group)) <= lane.closed_at;
}

void ReleasedJobs::remember() const {
    EventMemory& memory = *in_.events;
    const Blockers lifted = lifted_whatever_size(!memory.held_up.empty());
    for (std::size_t i = 0; i < memory.lifted_at.size(); ++i)
        if ((lifted >> i & 1) != 0) memory.lifted_at[i] = memory.pending.clock();
}

// Returns the stored releases, which tell which parked jobs may start now, or finds them again. Stored
// releases miss no job that may start, because starts leave less for others. So they are found again only
// when a released job hasn't started, or as many jobs have started as vnodes became freer.
Released& ReleasedJobs::of(CandidateQueues& queues) {
    Released& released = queues.released;
    const std::size_t since = c_.state_number() - released.as_of;
    const bool good = released.as_of != SIZE_MAX && released.everywhere == c_.room_everywhere &&
                      released.settled == settled_ &&
                      (since == 0 || (!released.missed && since < in_.events->since.freed.size()));
    if (!good) find(queues, released);
    return released;
}

bool ReleasedJobs::each_kind_has_room(const Request& request, PoolId pool, const PlaceRules& rules) const {
    if (request.chunks.size() == 1) return state_.vnodes->has_place(pool, request, rules);
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        Request one;
        one.chunks = {chunk};
        one.arrangement = request.arrangement;
        one.sharing = request.sharing;
        return state_.vnodes->has_place(pool, one, rules);
    });
}

// Returns whether there is a place on the vnodes of any of the queues, if all other conditions are ignored.
// Each kind of chunks is searched alone, because starts of this cycle free nothing. The answer is stored for
// all jobs with the request that end in time for the same reservations: false for the whole cycle, true until
// a job starts. A job that ends later has no more room than one that ends earlier.
bool ReleasedJobs::may_have_room(std::uint32_t signature, std::uint32_t asked, const JobSize& size,
                                 CandidateQueues& queues, Released& released) {
    if (t_.signatures[signature].run_host != 0) return true;
    if (std::exchange(released.cleared, c_.reservations_cleared) != c_.reservations_cleared) {
        released.room.clear();
        released.no_place = {};
    }
    const std::uint32_t number = t_.signatures[signature].request;
    const auto [place, is_new] = released.room.try_emplace(number);
    Released::Room& known = place->second;
    const Request& request = t_.requests[number];
    if (is_new) known.told_by_size = is_told_by_size(request, t_.resources);
    if (known.told_by_size) return true;
    const bool knows_end = asked != NoPlace::kAnyRequest && size.walltime > 0;
    const Instant ends = knows_end ? in_.now + Seconds(size.walltime) + state_.planning.offset : in_.now;
    if (ends >= known.none_from) return false;
    if (known.as_of == started_.size() + 1 && ends <= known.until) return true;
    // The answer is the same for all jobs that end after `from` and by `until`.
    Instant from = Instant::min();
    Instant until = Instant::max();
    for (const Reservation& reservation : state_.reservations)
        if (reservation.start < ends)
            from = std::max(from, reservation.start);
        else
            until = std::min(until, reservation.start);
    PlaceRules rules = state_.place_rules(request);
    rules.max_load_percent = rules.max_systime_percent = 0;  // these change without an event
    rules.load_balancing = false;
    rules.ends = ends;
    const bool room = std::ranges::any_of(queues, [&](const QueueView* view) {
        rules.booking = view->booking;
        return each_kind_has_room(request, view->pool, rules);
    });
    if (room) {
        known.as_of = started_.size() + 1;
        known.until = until;
        return true;
    }
    known.none_from = from == Instant::min() ? from : from + Seconds(1);
    const bool none_at_all = known.none_from <= in_.now;
    const std::int64_t least =
        none_at_all ? 0
                    : std::max<std::int64_t>(1, (known.none_from - in_.now - state_.planning.offset).count());
    if (asked != NoPlace::kAnyRequest) released.no_place.note(number, least);
    return false;
}

}  // namespace pbs::sched
