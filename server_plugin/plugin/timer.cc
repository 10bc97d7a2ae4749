#include "server_plugin/plugin/timer.h"

#include <algorithm>
#include <limits>

#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/cycle.h"
#include "server_plugin/plugin/queue_types.h"
#include "server_plugin/plugin/requests/record.h"

namespace pbs::plugin {
namespace {

// Polls the site's programs. A new answer makes the schedulers that use it want a cycle. Returns whether
// there are such schedulers.
bool look_after_programs(State& state, sched::Instant now) {
    std::vector<std::string_view> rules;
    for (const auto& program : state.programs)
        if (program->look(state.scheduler, state.host, now)) rules.push_back(program->rule());
    const DynamicResources::Scheds told = state.dynamic_resources.look(state.scheduler, state.host, now);
    const std::size_t before = state.due.size();
    for (const auto& [name, folder] : state.sched_priv) {
        const auto is_this = [&name = name](const sched::DueSched& due) { return due.name == name; };
        const auto goes_by = [&, &name = name](std::string_view rule) {
            return !state.scheduler.questions(now, name, rule).empty();
        };
        const bool asked = told.contains(name) || std::ranges::any_of(rules, goes_by);
        if (asked && std::ranges::none_of(state.due, is_this)) state.due.push_back({name, false});
    }
    return state.due.size() > before;
}

}  // namespace

void write_usage_file(State& state, sched::Instant now) {
    const std::string keeper = state.scheduler.usage_keeper(now);
    if (keeper.empty()) return;
    write_usage_file(state, keeper, usage_file_text(state.scheduler.usage_rows(), now, state.zone));
}

// While the scheduler is busy, no work is due: the host asks again afterwards. During a long change of the
// store, past usage isn't saved: the host calls this again after the calls that end the change.
int64_t next_deadline(State& state, sched::Instant now) {
    if (!state.store) return std::numeric_limits<int64_t>::max();
    state.queries.finish(state);
    forget_records(state, now);
    if (state.scheduler.at_work()) return std::numeric_limits<int64_t>::max();
    follow_zones(state, now);
    load_shares(state);
    if (!state.changed_settings.objects.empty()) return seconds(now);
    sched::Instant due = std::min(
        {state.scheduler.next_deadline(now),
         state.long_change.busy() ? sched::Instant::max() : state.usage.next_deadline(state.scheduler, now),
         state.dynamic_resources.next_deadline(now),
         state.scheduler.usage_keeper(now).empty() ? sched::Instant::max() : state.usage_file.next(now),
         state.external_files.next(state, now), next_queue_types(state, now)});
    for (const auto& program : state.programs) due = std::min(due, program->next_deadline(now));
    return due == sched::Instant::max() ? std::numeric_limits<int64_t>::max() : seconds(due);
}

uint32_t tick(State& state, sched::Instant now) {
    state.due.clear();
    if (!state.store) return PBS_WANT_NOTHING;
    state.queries.finish(state);
    if (state.scheduler.at_work()) return PBS_WANT_NOTHING;
    follow_zones(state, now);
    if (next_queue_types(state, now) <= now) {
        set_queue_types(state, now);
        settle(state);
    }
    // Read the allocation files first: a due decay depends on which groups have exceeded their allocation.
    for (const auto& [name, folder] : state.sched_priv) read_allocations(state, name, now, false);
    sched::TickResult result = state.scheduler.tick(now);
    state.due = std::move(result.due);
    for (const sched::DueSched& due : state.due)
        if (due.policy_switched) state.changes.note({sched::ObjectRef::Kind::sched, 0, due.name});
    for (const std::string& line : result.switched) state.host.log(PBS_LOG_INFO, "policy", line);
    tell_of_changed(state);
    const bool told = look_after_programs(state, now);
    if (state.usage_file.due(now)) write_usage_file(state, now);
    state.external_files.look(state, now);
    if (!state.long_change.busy()) state.usage.save(*state.store, state.scheduler, state.host, now);
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
