#include "server_plugin/scheduler/framework/plain_jobs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::sched {

// Returns whether the room on vnodes follows from their free amounts: no rule looks at anything else of a
// vnode that changes over time.
bool PlainJobs::may_be_plain() {
    const PlaceRules rules = state_.place_rules(Request{});
    return state_.own_limits.empty() && state_.named_place == nullptr && state_.vnodes->bookings().empty() &&
           c_.preempted.empty() && !t_.requests.wants_hosts() && !t_.vnodes.gives_hosts() &&
           !state_.planning.pauses && rules.max_jobs_on_host == 0 && rules.max_load_percent == 0 &&
           rules.max_systime_percent == 0 && rules.reserved.empty() &&
           !(rules.load_balancing && state_.vnodes->has_maximal_loads());
}

void PlainJobs::begin(KeptEstimates& chain) {
    std::optional<KeptEstimates::Premises> premises;
    if (in_.keep_pending_jobs && !c_.fake_vnodes)
        premises = {in_.policy, state_.vnodes, state_.vnodes->version(), in_.events->since.times_settings,
                    c_.vnode_share()};
    chain.begin(free_times(), premises, in_.now);
}

// The free amounts over time by the jobs that run or were started, and by the reservations.
FreeTimes PlainJobs::free_times() {
    FreeTimes times;
    times.begin(*state_.vnodes);
    ResourceSchedule& schedule = future_.schedule();
    std::vector<ResourceSchedule::Event> events;
    std::ranges::merge(schedule.ends(), schedule.added_events(), std::back_inserter(events), {},
                       &ResourceSchedule::Event::order, &ResourceSchedule::Event::order);
    for (const ResourceSchedule::Event& event : events)
        times.change(schedule.holding(event).shares, event.at, event.begins ? -1 : 1);
    return times;
}

const PlainJobs::Pool& PlainJobs::pool(PoolId id) {
    const auto [found, made] = pools_.try_emplace(id);
    Pool& pool = found->second;
    if (!made) return pool;
    const std::span<const VnodeSlot> vnodes = state_.vnodes->pool_vnodes(id);
    pool.index.assign(state_.vnodes->size(), kNoSlot);
    for (std::uint32_t i = 0; i < vnodes.size(); ++i) pool.index[vnodes[i]] = i;
    pool.is_plain = !state_.vnodes->moves(id) && !state_.vnodes->divides(id) &&
                    std::ranges::all_of(vnodes, [&](VnodeSlot vnode) {
                        return (*state_.vnodes)[vnode].sharing == Sharing::default_shared;
                    });
    return pool;
}

// Returns whether no limit, and no filter but that for places, refuses the job, whatever runs. May be false
// by mistake.
bool PlainJobs::is_unlimited(const Candidate& job, QueueView& view) {
    // A filter may note the jobs that it refuses now. These questions are about a later instant.
    struct AskLater {
        explicit AskLater(CycleState& given) : state(given) { state.looking_ahead = true; }
        ~AskLater() { state.looking_ahead = false; }
        AskLater(const AskLater&) = delete;
        AskLater& operator=(const AskLater&) = delete;
        CycleState& state;
    } const ask_later(state_);
    if (!limits_of(p_.filters, state_, job, view).empty()) return false;
    return std::ranges::all_of(p_.filters, [&](const Filter* filter) {
        if ((filter->traits & about_time) != 0) return true;  // see may_start_at()
        if (const Limit* limit = filter->limit())
            return limit->measure != Limit::Measure::available || limit->is_open(view.facts);
        if (filter->wanted != nullptr && !filter->wanted(s_, in_.now)) return true;
        if ((filter->traits & places) != 0) return true;
        return (filter->traits & by_limits_only) != 0 &&
               (filter->lets_all_pass(view.facts) || !c_.check(*filter, job, view));
    });
}

std::optional<PlainJobs::Plain> PlainJobs::of(const Candidate& job, QueueView& view) {
    const Request& request = *job.request;
    if (!are_any_ || view.is_reservation || view.hours != nullptr || view.queue->hours != nullptr ||
        !view.groups.empty() || job.suspended != kNoSlot || job.run_host != 0 || job.walltime <= Seconds(0) ||
        c_.together(job.job) != 1 || request.chunks.size() != 1 || request.group != kNoResource ||
        request.per_host != 0 || request.sharing == AskedSharing::exclhost || !request.range.empty() ||
        (s_.preferences && !request.preferences.empty()) || c_.not_started_reason(t_.jobs.queue[job.job]) ||
        !state_.supports(request) || !state_.vnodes->has_some_of_each(request))
        return std::nullopt;
    const Chunk& chunk = request.chunks.front();
    const ChunkOrder order = request.order == ChunkOrder::by_policy ? s_.chunk_order : request.order;
    if (chunk.count > 1 && (order != ChunkOrder::fill || request.arrangement == Arrangement::pack))
        return std::nullopt;
    const PoolId id = state_.pool_for(view, request);
    if (!pool(id).is_plain) return std::nullopt;
    Plain plain{{request.serial, id, chunk.count, state_.ends(job) - state_.now}, {}, &chunk};
    const Columns& columns = state_.vnodes->columns();
    const Row needs = columns.needs_of(chunk, request.sharing, c_.vnode_share());
    // A vnode whose CPUs are all in use takes no jobs without CPUs.
    const std::uint32_t ncpus = columns.of(columns.known().ncpus);
    if (needs[kOpenColumn] == Columns::open && ncpus != 0 && needs[ncpus] == 0) return std::nullopt;
    if (ncpus != 0 && needs[ncpus] > 0) plain.needs.push_back({ncpus, needs[ncpus]});
    for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
        if (needs[c] > 0 && c != ncpus) plain.needs.push_back({c, needs[c]});
    plain.needs.push_back({kOpenColumn, 0});
    if (request.sharing == AskedSharing::excl) plain.needs.push_back({kEmptyColumn, 0});
    if (!is_unlimited(job, view)) return std::nullopt;
    return plain;
}

bool PlainJobs::may_start_at(Instant at, const Candidate& job, const QueueView& view) const {
    const auto is_timed = [&](QueueSlot queue) {
        const ExecutionType type = t_.queues[queue].execution_type;
        return type == ExecutionType::prime || type == ExecutionType::non_prime;
    };
    if (is_timed(t_.jobs.queue[job.job])) return false;
    return std::ranges::all_of(p_.filters, [&](const Filter* filter) {
        if (filter->wanted != nullptr && !filter->wanted(s_, at)) return true;
        if ((filter->traits & about_time) != 0)
            return filter->is_open != nullptr && filter->is_open(view.facts);
        // Switched on at a later date?
        return filter->wanted == nullptr || filter->wanted(s_, in_.now) || (filter->traits & places) != 0;
    });
}

std::optional<KeptEstimates::Estimate> PlainJobs::find(const Candidate& job, const QueueView& view,
                                                       const Plain& plain, Estimate* old,
                                                       KeptEstimates& chain, bool& is_kept) {
    const KeptEstimates::Order order{state_.vnodes->pool_vnodes(plain.wish.pool),
                                     pool(plain.wish.pool).index};
    const auto may_use = [&](VnodeSlot vnode) {
        return state_.vnodes->matches((*state_.vnodes)[vnode], *plain.chunk);
    };
    const bool single = plain.wish.chunks == 1;
    FreeTimes::Place best;
    Instant from = in_.now;
    if (old != nullptr && old->wish == plain.wish && (!old->is_found() || old->start > in_.now)) {
        const auto freer = chain.freer_place(*old, plain.needs, order, may_use);
        is_kept = !freer && (!old->is_found() ||
                             (chain.has_its_place(*old, plain.needs) && may_start_at(old->start, job, view)));
        if (is_kept) return std::move(*old);
        if (!single) return std::nullopt;
        if (freer) best = *freer;
        // Vnodes that aren't freer have no room before the old start.
        if (old->is_found()) from = old->start;
    }
    if (!single) return std::nullopt;
    if (best.vnode == kNoSlot) {
        ++c_.searches_ahead;
        best = chain.times().earliest_of(order.vnodes, plain.needs, from, plain.wish.duration, may_use);
    }
    Estimate found;
    found.job = t_.jobs.handle[job.job];
    found.work = 1;
    if (best.vnode == kNoSlot) found.wish = plain.wish;
    if (best.vnode == kNoSlot || best.start > in_.now + kFarthest) return found;
    if (!may_start_at(best.start, job, view)) return std::nullopt;
    Placement placement;
    placement.parts.push_back({best.vnode, 0, 1});
    return estimate(job, plain, best.start, std::move(placement));
}

std::optional<KeptEstimates::Estimate> PlainJobs::find_several(const Candidate& job, const QueueView& view,
                                                               const Plain& plain, KeptEstimates& chain) {
    if (job.request->arrangement != Arrangement::free) return std::nullopt;
    const std::span<const VnodeSlot> vnodes = state_.vnodes->pool_vnodes(plain.wish.pool);
    const auto may_use = [&](VnodeSlot vnode) {
        return state_.vnodes->matches((*state_.vnodes)[vnode], *plain.chunk);
    };
    ++c_.searches_ahead;
    const Instant start = chain.times().earliest_of_several(vnodes, plain.needs, plain.wish.chunks, in_.now,
                                                            plain.wish.duration, may_use);
    if (start == Instant::max() || start > in_.now + kFarthest || !may_start_at(start, job, view))
        return std::nullopt;
    Placement placement;
    std::int64_t left = plain.wish.chunks;
    for (const VnodeSlot vnode : vnodes) {
        if (left == 0) break;
        if (!may_use(vnode)) continue;
        const std::int64_t chunks =
            chain.times().chunks_in(vnode, plain.needs, left, {start, start + plain.wish.duration});
        if (chunks > 0) placement.parts.push_back({vnode, 0, chunks});
        left -= chunks;
    }
    return estimate(job, plain, start, std::move(placement));
}

KeptEstimates::Estimate PlainJobs::estimate(const Candidate& job, const Plain& plain, Instant start,
                                            Placement placement) const {
    Estimate found;
    found.job = t_.jobs.handle[job.job];
    found.work = 1;
    found.wish = plain.wish;
    found.start = start;
    found.end = start + plain.wish.duration;
    found.placement = std::move(placement);
    Vnodes::Shares shares;
    state_.vnodes->shares_of(found.placement, *job.request, c_.vnode_share(), shares);
    found.shares.assign(shares.begin(), shares.end());
    return found;
}

}  // namespace pbs::sched
