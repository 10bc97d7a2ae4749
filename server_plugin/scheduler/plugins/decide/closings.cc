// at_close of time_windows: suspends or requeues the jobs that run in a queue whose hours have ended.

#include <fmt/format.h>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

bool may_be_stopped(const JobTable& jobs, JobSlot job, AtClose at_close) {
    return jobs.can_be_stopped(job) &&
           (at_close == AtClose::suspend || (jobs.flags[job] & job_rerunnable) != 0);
}

// Suspends or requeues the jobs of a queue whose time_window has closed. A job that started after the closing
// was started by an operator, and goes on. A job that this cycle already preempts for another one gets no
// second decision.
void stop_jobs(Outcome& outcome, const QueueView& view) {
    CycleContext& cycle = outcome.cycle();
    const JobTable& jobs = cycle.tables.jobs;
    const std::vector<JobSlot>& running = view.queue->running;
    if (running.empty()) return;
    const JobSlot first = std::ranges::min(running, {}, [&](JobSlot job) { return jobs.stime[job]; });
    const auto closed = view.hours->closed_since(jobs.stime[first], cycle.in.now);
    if (!closed || closed->window == nullptr || closed->window->at_close == AtClose::run) return;
    const AtClose at_close = closed->window->at_close;
    const bool suspends = at_close == AtClose::suspend;
    const std::string_view why = outcome.keep_text(
        suspends ? text(suspended_until(cycle.state, view), cycle.reason_context())
                 : fmt::format("Queued again: time_window {} has closed", closed->window->name));
    for (const JobSlot job : running) {
        if (!closed->stops(jobs.stime[job]) || !may_be_stopped(jobs, job, at_close)) continue;
        if (std::ranges::count(cycle.preempted, job, &Preempted::job) > 0) continue;
        if (cycle.test_only) {
            outcome.out().log.push_back(fmt::format("test_only: would {} job {}: {}",
                                                    suspends ? "suspend" : "requeue", jobs.id[job], why));
            continue;
        }
        Decision decision;
        decision.kind = DecisionKind::preempt;
        decision.job = jobs.handle[job];
        decision.text = why;
        decision.methods = {suspends ? PreemptMethod::suspend : PreemptMethod::requeue};
        outcome.out().list.push_back(decision);
    }
}

void decide_closings(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    if (!cycle.tables.preempts) return;
    for (const QueueView& view : cycle.views)
        if (!view.open && view.queue->hours != nullptr) stop_jobs(outcome, view);
}

}  // namespace

extern const Decide kClosingsDecide{
    .name = "closings", .decide = decide_closings, .when = Decide::Cycles::always};

}  // namespace pbs::sched
