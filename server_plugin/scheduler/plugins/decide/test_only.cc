// TEST_ONLY: writes log lines instead of decisions.

#include <fmt/format.h>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

void decide_test_only(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    const Tables& t = cycle.tables;
    std::vector<std::string>& log = outcome.out().log;
    for (const auto& [job, queue] : cycle.moves)
        log.push_back(
            fmt::format("test_only: would move job {} to queue {}", t.jobs.id[job], t.queues[queue].name));
    for (const Preempted& preempted : cycle.preempted)
        log.push_back(fmt::format("test_only: would preempt job {} for job {}", t.jobs.id[preempted.job],
                                  t.jobs.id[preempted.for_job]));
    for (const Started& started : cycle.started)
        log.push_back(fmt::format("test_only: would start job {} in queue {}", t.jobs.id[started.job],
                                  started.view->queue->name));
    for (const Refused& refusal : cycle.refused) {
        if (refusal.job == kNoSlot) continue;
        const Answer& answer = cycle.answers[refusal.answer];
        log.push_back(fmt::format("test_only: would {} job {}: {}", answer.rejected ? "reject" : "not start",
                                  t.jobs.id[refusal.job], text(answer.reason, cycle.reason_context())));
    }
}

}  // namespace

// The log lines change nothing about jobs, so each cycle has to write all of them.
extern const Decide kTestOnlyDecide;
const Decide kTestOnlyDecide{.name = "test_only",
                             .decide = decide_test_only,
                             .when = Decide::When::only_told,
                             .wants_every_job = [](const CycleContext& cycle) { return cycle.test_only; }};

}  // namespace pbs::sched
