// Carries out the results of a cycle: starts, preemptions, moves and rejections; or, with TEST_ONLY, writes
// them into the log.

#include <fmt/format.h>

#include <array>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

// Moves jobs back to the queue of their submission (SCHED_RESTART_ACTION resubmit).
void decide_moves(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    for (const auto& [job, queue] : cycle.moves)
        outcome.out().list.push_back({DecisionKind::move,
                                      cycle.tables.jobs.handle[job],
                                      cycle.tables.queues[queue].handle,
                                      {},
                                      {},
                                      {}});
}

void decide_preemptions(Outcome& outcome) {
    for (const Preempted& preempted : outcome.cycle().preempted) outcome.preempt(preempted);
}

// Rejects jobs that can never run, with the reason.
void decide_rejections(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    for (const Refused& refusal : cycle.refused) {
        if (refusal.job == kNoSlot || !cycle.answers[refusal.answer].rejected) continue;
        const std::string_view line = outcome.text(cycle.answers[refusal.answer]);
        outcome.out().list.push_back(
            {DecisionKind::reject, cycle.tables.jobs.handle[refusal.job], {}, line, {}, {}});
    }
}

// Starts jobs, with a comment if the profile has one.
void decide_starts(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    Tables& t = cycle.tables;
    const QueueSlot special_queue = cycle.setup.special;
    std::array<std::string_view, 2> texts;  // the comments of normal and of special jobs
    for (const Started& started : cycle.started) {
        const bool special = special_queue != kNoSlot && t.jobs.queue[started.job] == special_queue;
        std::string_view& line = texts[special ? 1 : 0];
        if (line.empty() && cycle.profile.comments_starts)
            line = outcome.keep_text(started_text(ctime_text(cycle.in.now, t.zone, t.last_ctime), special));
        outcome.start(started, line);
    }
}

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
                                  t.jobs.id[refusal.job], cycle.text_of(answer)));
    }
}

}  // namespace

extern const Decide kMovesDecide{.name = "moves", .decide = decide_moves};
extern const Decide kPreemptionsDecide{.name = "preemptions", .decide = decide_preemptions};
extern const Decide kRejectionsDecide{.name = "rejections", .decide = decide_rejections};
extern const Decide kStartsDecide{.name = "starts", .decide = decide_starts};
// The log lines change nothing about jobs, so each cycle has to write all of them.
extern const Decide kTestOnlyDecide{
    .name = "test_only",
    .decide = decide_test_only,
    .when = Decide::Cycles::only_told,
    .wants_every_job = [](const CycleContext& cycle) { return cycle.test_only; }};

}  // namespace pbs::sched
