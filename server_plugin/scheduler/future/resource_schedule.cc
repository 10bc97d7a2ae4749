#include "server_plugin/scheduler/future/resource_schedule.h"

#include <algorithm>

namespace pbs::sched {

void ResourceSchedule::add(const LimitUser& user, const rrule::Interval& when,
                           std::span<const Vnodes::Share> shares, std::uint32_t reservation) {
    Holding holding;
    holding.start = when.start;
    holding.end = when.end;
    holding.owner = user.owner;
    holding.group = user.group;
    holding.request = user.request;
    holding.nodes = user.nodes;
    holding.queue = user.queue;
    holding.reservation = reservation;
    holding.first_view = static_cast<std::uint32_t>(views_.size());
    holding.views = static_cast<std::uint32_t>(user.views.size());
    holding.dedicated_views = user.dedicated_views;
    holding.first_share = static_cast<std::uint32_t>(shares_.size());
    holding.shares = static_cast<std::uint32_t>(shares.size());
    views_.insert(views_.end(), user.views.begin(), user.views.end());
    shares_.insert(shares_.end(), shares.begin(), shares.end());
    const auto number = static_cast<std::uint32_t>(holdings_.size());
    holdings_.push_back(holding);
    if (reservation != no_slot) events_.push_back({when.start, number, true});
    events_.push_back({when.end, number, false});
}

std::span<const ResourceSchedule::Event> ResourceSchedule::events() {
    const auto before = [](const Event& a, const Event& b) {
        if (a.at != b.at) return a.at < b.at;
        return a.begins != b.begins ? b.begins : a.holding < b.holding;
    };
    const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(middle, events_.end(), before);
    std::inplace_merge(events_.begin(), middle, events_.end(), before);
    sorted_ = events_.size();
    return events_;
}

std::int64_t ResourceSchedule::use(const Holding& h, const LimitKey& key) const {
    if (key.kind != LimitKind::pool_amount)
        return use_of(*state_->vnodes,
                      {h.owner, h.group, h.nodes, h.request, h.queue, views(h), h.dedicated_views, nullptr},
                      key);
    std::int64_t sum = 0;
    for (const Vnodes::Share& share : shares(h))
        if (share.column == key.of && state_->vnodes->counts(key.object, share.vnode, share.column))
            sum += share.amount;
    return sum;
}

ResourceSchedule::Known& ResourceSchedule::up_to_date(const LimitKey& key) {
    Known& known = known_[key];
    if (known.holdings < holdings_.size()) {
        std::vector<Use> uses;
        for (; known.holdings < holdings_.size(); ++known.holdings) {
            const Holding& h = holdings_[known.holdings];
            if (const auto amount = use(h, key); amount != 0) uses.push_back({{h.start, h.end}, amount});
        }
        known.profile.debit(uses);
    }
    return known;
}

Demand ResourceSchedule::demand(const Limit& limit) {
    return {&up_to_date(limit.key).profile, limit.amount, limit.capacity};
}

Demand ResourceSchedule::demand_of_pool(PoolId pool, std::uint32_t column, std::int64_t amount) {
    Known& known = up_to_date({LimitKind::pool_amount, pool, column});
    if (known.capacity < 0) known.capacity = state_->vnodes->capacity(pool, column);
    return {&known.profile, amount, known.capacity};
}

}  // namespace pbs::sched
