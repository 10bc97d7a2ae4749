// MANAGE_HPM_COUNTERS: a job that requests the hardware performance counters (-l hpm=1) starts once they are
// in user mode. This is the last test: if only this one fails, the host switches the counters for the job, by
// a program.

#include <algorithm>

#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

constexpr std::string_view kName = "hpm_counters";
constexpr std::string_view kUserMode = "user";
constexpr std::string_view kGlobalMode = "global";

struct HpmCounterUse {
    bool wanted = false;  // a job starts with the counters, or waits for them and for nothing else
};

bool wanted_hpm_counters(const Settings& s, Instant now) {
    return s.manage_hpm_counters.holds(now) && !s.hpm_ctl.empty();
}

bool asks_for_hpm_counters(const Tables& tables, const Request& request) {
    const std::uint32_t hpm = tables.resources.id("hpm");
    return hpm != kNoResource && number_of(request.totals, hpm).value_or(0) != 0;
}

bool are_hpm_counters_in_user_mode(const Tables& tables) {
    const ToldAmounts::Report* mode = tables.told.find(kName);
    return mode != nullptr && mode->value == kUserMode;
}

Refusal check_hpm_counters(CycleState& state, const JobNeeds& job, QueueView& view) {
    // A look-ahead asks about a later instant, by which the counters have been switched for the job.
    if (state.looking_ahead || are_hpm_counters_in_user_mode(*state.tables) ||
        !asks_for_hpm_counters(*state.tables, *job.request))
        return {};
    if (!state.only_asked) state.own.of<HpmCounterUse>().wanted = true;
    const auto words = state.strings->id("Waiting for the HPM counters to be in user mode");
    return {{ReasonCode::other, view.slot, words}, blocker::kCycle};
}

void start_with_hpm_counters(CycleState& state, const Candidate& job) {
    if (asks_for_hpm_counters(*state.tables, *job.request)) state.own.of<HpmCounterUse>().wanted = true;
}

std::string_view flag_of_hpm_counters(const Tables& tables, const Request& request) {
    return asks_for_hpm_counters(tables, request) ? "HPM" : "";
}

void decide_hpm_counters(Outcome& outcome) {
    const auto* use = outcome.cycle().state.own.find<HpmCounterUse>();
    if (use != nullptr && use->wanted) outcome.out().wants.push_back(kName);
}

void ask_for_hpm_mode(const Tables& t, const Settings& s, Instant now, std::vector<Question>& questions) {
    if (!wanted_hpm_counters(s, now) || s.test_only.holds(now)) return;
    bool used = false;
    for (QueueSlot q = 0; q < t.queues.size() && !used; ++q)
        used = std::ranges::any_of(t.queues[q].running, [&](JobSlot job) {
            return asks_for_hpm_counters(t, t.requests[t.jobs.request[job]]);
        });
    questions.push_back({.source = s.hpm_ctl,
                         .argument = std::string(used ? kUserMode : kGlobalMode),
                         .revoke = s.revoke_hpm_counters.holds(now)});
}

}  // namespace

extern const Filter kHpmCountersFilter{.name = kName.data(),
                                       .attributes = "manage_hpm_counters, hpm_ctl",
                                       .traits = by_limits_only,
                                       .check = check_hpm_counters,
                                       .wanted = wanted_hpm_counters,
                                       .started = start_with_hpm_counters,
                                       .flag = flag_of_hpm_counters};

extern const Decide kHpmCountersDecide{.name = kName.data(), .decide = decide_hpm_counters};

extern const QuestionRule kHpmCountersQuestions{kName, ask_for_hpm_mode};

}  // namespace pbs::sched
