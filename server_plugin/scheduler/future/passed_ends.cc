#include "server_plugin/scheduler/future/passed_ends.h"

#include <algorithm>

#include "server_plugin/scheduler/future/holding.h"

namespace pbs::sched {

bool PassedEnds::is_good(const CycleState& state) const {
    return is_sound_ && state.vnodes->has_ahead(number_) &&
           std::ranges::equal(of_server_, state.server_amounts,
                              [](const OfServer& passed, const ServerAmount& amount) {
                                  return passed.resource == amount.available.resource &&
                                         passed.given_back == amount.given_back;
                              });
}

void PassedEnds::begin(CycleState& state, const Tables& tables, Instant now) {
    clear();
    from_ = until_ = now;
    views_.resize(state.views->size());
    for (const QueueView& view : *state.views)
        views_[view.number].in_use.resize(view.queue->resources_available.size());
    for (const ServerAmount& amount : state.server_amounts)
        of_server_.push_back({amount.available.resource, amount.given_back, {}});
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
    for (OfServer& passed : of_server_)
        if (passed.given_back) passed.in_use += amount(passed.resource);
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
    for (std::size_t i = 0; i < of_server_.size(); ++i)
        state.server_amounts[i].in_use += of_server_[i].in_use * sign;
    view.running += sign * passed.running;
    view.nodes += sign * passed.nodes;
    for (std::size_t i = 0; i < view.in_use.size(); ++i) view.in_use[i] += passed.in_use[i] * sign;
    tables.counts.add(counts_, view.slot, state.partition, whose, sign);
}

}  // namespace pbs::sched
