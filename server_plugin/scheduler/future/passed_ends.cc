#include "server_plugin/scheduler/future/passed_ends.h"

#include "server_plugin/scheduler/future/holding.h"

namespace pbs::sched {

void PassedEnds::begin(CycleState& state, const Tables& tables, Instant now) {
    clear();
    from_ = until_ = now;
    views_.resize(state.views->size());
    for (const QueueView& view : *state.views)
        views_[view.number].in_use.resize(view.queue->resources_available.size());
    server_amounts_.resize(state.server_amounts.size());
    counts_ = tables.counts.without_jobs();
    number_ = state.vnodes->begin_ahead();
    is_sound_ = true;
}

void PassedEnds::count(CycleState& state, const Tables& t, const Holding& h, int sign) {
    is_sound_ = false;
    const Request& request = t.requests[h.request];
    const std::uint32_t partition = t.queues[h.queue].partition;
    const auto amount = [&](std::uint32_t resource) {
        return values::Sum(number_of(request.totals, resource).value_or(0)) * sign;
    };
    if (partition == state.partition) running_ += sign;
    dedicated_running_ += sign * h.dedicated_views;
    for (std::size_t i = 0; i < server_amounts_.size(); ++i)
        if (state.server_amounts[i].given_back)
            server_amounts_[i] += amount(state.server_amounts[i].available.resource);
    for (const std::uint32_t number : h.views) {
        OfView& view = views_[number];
        view.running += sign;
        view.nodes += sign * h.nodes;
        for (std::size_t i = 0; i < view.in_use.size(); ++i)
            view.in_use[i] += amount((*state.views)[number].queue->resources_available[i].resource);
    }
    counts_.count(h.queue, partition, {h.whose, &request, h.walltime}, sign);
    state.vnodes->change_ahead(h.shares, sign);
    is_sound_ = true;
}

void PassedEnds::apply(CycleState& state, Tables& tables, QueueView& view, const Entities& whose,
                       int sign) const {
    const OfView& passed = views_[view.number];
    state.running += sign * running_;
    state.dedicated_running += sign * dedicated_running_;
    for (std::size_t i = 0; i < server_amounts_.size(); ++i)
        state.server_amounts[i].in_use += server_amounts_[i] * sign;
    view.running += sign * passed.running;
    view.nodes += sign * passed.nodes;
    for (std::size_t i = 0; i < view.in_use.size(); ++i) view.in_use[i] += passed.in_use[i] * sign;
    tables.counts.add(counts_, view.slot, state.partition, whose, sign);
}

}  // namespace pbs::sched
