// Finds how many more jobs the counters of quotas surely leave enough for.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/quota_book.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

using objects::QuotaSubject;

std::int64_t QuotaBook::asked_in_all(const CycleState& state, const Request& request, Seconds walltime,
                                     std::uint32_t what) {
    if (const auto asked = asked_amount(request, walltime, what)) return std::max<std::int64_t>(0, *asked);
    if (what != state.resources->known().ncpus) return 0;
    std::int64_t chunks = 0;
    for (const Chunk& chunk : request.chunks) chunks += chunk.count;
    return std::max<std::int64_t>(1, chunks);
}

std::int64_t QuotaBook::largest_asked(const CycleState& state, Bound& bound) {
    if (bound.largest >= 0) return bound.largest;
    const auto [known, is_new] = largest_.try_emplace(bound.what, bound.what == kJobs ? 1 : 0);
    const Requests& requests = state.tables->requests;
    for (std::uint32_t i = 0; is_new && bound.what != kJobs && i < requests.size(); ++i)
        known->second = std::max(known->second, asked_in_all(state, requests[i], Seconds(-1), bound.what));
    return bound.largest = known->second;
}

// Returns for how many jobs with this request, one after the other, each counter of the group leaves enough.
// `request` is null: for jobs with any request that there is.
std::int64_t QuotaBook::room_in(const CycleState& state, CounterGroup& group, const Request* request) {
    std::int64_t room = kNever;
    std::vector<Bound>& bounds = rule_of(group.key).bounds;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const std::int64_t asked = request != nullptr
                                       ? asked_in_all(state, *request, Seconds(-1), bounds[i].what)
                                       : largest_asked(state, bounds[i]);
        const auto left = [&] { return (values::Sum(bounds[i].most) - group.most_used[i]).value(); };
        if (asked == 0 && left() >= 0) continue;
        if (left() < asked) {
            if (std::exchange(group.as_of, begun_) == begun_) return 0;
            group.most_used.assign(bounds.size(), values::Sum());
            for (const std::uint32_t counter : group.counters)
                for (std::size_t b = 0; b < bounds.size(); ++b)
                    group.most_used[b] = std::max(group.most_used[b], counters_[counter].used[b]);
            if (left() < asked) return 0;
        }
        if (asked > 0) room = std::min(room, left() / asked);
    }
    return room;
}

std::int64_t QuotaBook::refuses_after(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                      QueueSlot queue, const Request* request) {
    const Own& own = this->own(state, owner, group, queue);
    if (own.not_only) return 0;
    std::int64_t starts = kNever;
    for (const std::uint32_t number : own.groups) {
        CounterGroup& of = groups_[number];
        if (!of.room) of.room = room_in(state, of, nullptr);
        // The request may be one that this cycle has made, for more chunks (select_range). It may be larger
        // than any that `room` is about.
        const bool is_known = request == nullptr || request->serial <= largest_of_;
        const bool by_request = request != nullptr && (!is_known || *of.room == 0);
        starts = std::min(starts, by_request ? room_in(state, of, request) : *of.room);
        if (starts == 0) break;
    }
    return starts;
}

std::optional<EntityKind> QuotaBook::changed_by(const CycleState& state, std::uint32_t owner,
                                                std::uint32_t group, QueueSlot queue) {
    const Own& own = this->own(state, owner, group, queue);
    if (own.not_only || std::ranges::any_of(quotas_, [](const InQuota& in) { return in.quota->has_windows; }))
        return std::nullopt;
    return own.by_group ? EntityKind::group : EntityKind::user;
}

std::int64_t QuotaBook::exceeds_after(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                      const LimitKey& key, std::int64_t left) {
    const Key& counter = counters_[key.use.object].key;
    bool own = false;
    for (const auto& [which, id] : {std::pair(QuotaSubject::users, owner), {QuotaSubject::groups, group}}) {
        const std::uint32_t value = counter[place_of(which)];
        if (value == 0) continue;
        if (value != id + 1) return kNever;
        own = true;
    }
    if (!own) return 0;
    const std::int64_t largest = largest_asked(state, rule_of(counter).bounds[key.what]);
    return left < largest ? 0 : largest == 0 ? kNever : left / largest;
}

}  // namespace pbs::sched
