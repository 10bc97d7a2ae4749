#include "server_plugin/plugin/timer.h"

#include <algorithm>
#include <limits>

#include "server_plugin/plugin/configuration.h"

namespace pbs::plugin {
namespace {

// Other dedicated times are another reason for a cycle, of the schedulers that observe them.
bool tell_dedicated_times(State& state, sched::Instant now) {
    if (!state.dedicated_times.look(state.scheduler, state.host, now)) return false;
    const std::size_t before = state.due.size();
    for (const auto& [name, folder] : state.sched_priv) {
        const auto is_this = [&name = name](const sched::DueSched& due) { return due.name == name; };
        if (std::ranges::none_of(state.due, is_this) && !state.scheduler.outage_questions(now, name).empty())
            state.due.push_back({name, false});
    }
    return state.due.size() > before;
}

}  // namespace

int64_t next_deadline(State& state, sched::Instant now) {
    if (!state.store) return std::numeric_limits<int64_t>::max();
    follow_zones(state, now);
    const sched::Instant due =
        std::min({state.scheduler.next_deadline(now), state.usage.next_deadline(state.scheduler, now),
                  state.dedicated_times.next_deadline(now)});
    return due == sched::Instant::max() ? std::numeric_limits<int64_t>::max() : seconds(due);
}

uint32_t tick(State& state, sched::Instant now) {
    state.due.clear();
    if (!state.store) return PBS_WANT_NOTHING;
    follow_zones(state, now);
    sched::TickResult result = state.scheduler.tick(now);
    state.due = std::move(result.due);
    for (const std::string& line : result.switched) state.host.log(PBS_LOG_INFO, "policy", line);
    const bool told = tell_dedicated_times(state, now);
    state.usage.save(*state.store, state.scheduler, state.host, now);
    if (!result.cycle_wanted && !told) return PBS_WANT_NOTHING;
    return PBS_WANT_CYCLE | (result.policy_switched ? PBS_WANT_POLICY_SWITCH : PBS_WANT_NOTHING);
}

uint32_t wanted(const State& state, std::string_view sched) {
    for (const sched::DueSched& due : state.due)
        if (due.name == sched)
            return PBS_WANT_CYCLE | (due.policy_switched ? PBS_WANT_POLICY_SWITCH : PBS_WANT_NOTHING);
    return PBS_WANT_NOTHING;
}

}  // namespace pbs::plugin
