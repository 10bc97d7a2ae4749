// Dedicated time, for queues with execution_type execution_dedicated and the policy's dedicated_queues. Jobs
// of other queues must not start in it or run into it, and jobs of dedicated queues start only in it.

#include "server_plugin/scheduler/framework/boundaries.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/questions.h"

namespace pbs::sched {
namespace {

Refusal check_dedicated_time(CycleState& state, const JobNeeds& job, QueueView& view) {
    const auto& time = view.dedicated_time;
    if (view.dedicated) {
        if (view.dedicated_now) return {};
        return Refusal::until_named(
            {ReasonCode::not_dedicated, view.slot, 0, time ? kept_instant(time->start) : 0});
    }
    if (view.dedicated_now)
        return Refusal::until_named({ReasonCode::dedicated_time, view.slot, 0, kept_instant(time->end)});
    if (view.dedicated_awaited)
        return Refusal::until_instant({ReasonCode::dedicated_unknown, view.slot}, Instant::max());
    // A job that would run into dedicated time can start after it.
    if (time && state.ends(job) > time->start)
        return Refusal::until_instant(
            {ReasonCode::into_dedicated, view.slot, 0, kept_instant(time->start), 0, job.without_walltime()},
            time->end);
    return {};
}

// Asks DEDICATED_TIME_COMMAND about the host of each queue, and about SYSTEM_NAME.
void ask_for_dedicated_time(const Tables& tables, const Settings& s, Instant now,
                            std::vector<Question>& questions) {
    if (s.dedicated_time_command.empty() || !s.enforce_dedicated_time.holds(now)) return;
    auto names = outage_hosts(tables, s);
    if (!s.system_name.empty()) names.push_back(s.system_name);
    for (std::string& name : names)
        questions.push_back({.source = s.dedicated_time_command,
                             .argument = std::move(name),
                             .holds_for = Seconds(s.dedicated_time_cache_secs)});
}

bool is_open_dedicated_time(const QueueFacts& o) {
    return !o.dedicated && !o.has_dedicated_time && !o.dedicated_awaited;
}

}  // namespace

extern const Filter kDedicatedTimeFilter{
    .name = "dedicated_time",
    .attributes = "enforce_dedicated_time, dedicated_time_command, dedicated_queues",
    .traits = about_time | by_limits_only,
    .check = check_dedicated_time,
    .is_open = is_open_dedicated_time};

extern const QuestionRule kDedicatedTimeQuestions{"dedicated_time", ask_for_dedicated_time};

extern const BoundaryRule kDedicatedTimeBoundaries{"dedicated_time", next_outage_change};

namespace {

// Jobs of dedicated queues have to end before dedicated time does, as in PBS.
Refusal check_dedicated_end(CycleState& state, const JobNeeds& job, QueueView& view) {
    if (!view.dedicated || !view.dedicated_now || state.ends(job) <= view.dedicated_time->end) return {};
    return Refusal::until_named({ReasonCode::past_dedicated, view.slot, 0,
                                 kept_instant(view.dedicated_time->end), 0, job.without_walltime()});
}

bool is_open_dedicated_end(const QueueFacts& o) {
    return !o.dedicated;
}

}  // namespace

extern const Filter kDedicatedEndFilter{.name = "dedicated_end",
                                        .attributes = "dedicated_queues",
                                        .traits = about_time | by_limits_only,
                                        .check = check_dedicated_end,
                                        .is_open = is_open_dedicated_end};

}  // namespace pbs::sched
