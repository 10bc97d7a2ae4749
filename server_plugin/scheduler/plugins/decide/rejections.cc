// Rejects jobs that can never run, with the reason.

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

void decide_rejections(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    for (const Refused& refusal : cycle.refused) {
        if (refusal.job == kNoSlot || !cycle.answers[refusal.answer].rejected) continue;
        const std::string_view line = outcome.text(cycle.answers[refusal.answer]);
        outcome.out().list.push_back(
            {DecisionKind::reject, cycle.tables.jobs.handle[refusal.job], {}, line, {}, {}});
    }
}

}  // namespace

extern const Decide kRejectionsDecide;
const Decide kRejectionsDecide{.name = "rejections", .decide = decide_rejections};

}  // namespace pbs::sched
