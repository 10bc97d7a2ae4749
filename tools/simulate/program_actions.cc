// The requests of a program of the site that schedules a simulation (--external).
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "tools/simulate/engine_impl.h"
#include "values/amount.h"

namespace pbs::simulate {
namespace {

using sched::Decision;
using sched::DecisionKind;

// Makes a decision as a scheduler's cycle would make it, for a request of a program.
Decision decision_of(DecisionKind kind, sched::JobHandle job) {
    Decision decision;
    decision.kind = kind;
    decision.job = job;
    return decision;
}

}  // namespace

char Engine::state(std::uint64_t job) {
    if (job >= trace_.jobs.size()) return '\0';
    const auto position = static_cast<Position>(job);
    if (const Run* run = runs_.find(position)) return run->suspended ? 'S' : 'R';
    return waiting_.find(position) == nullptr ? '\0' : 'Q';
}

std::span<const sched::Amount> Engine::requested(std::uint64_t job) {
    const auto position = static_cast<Position>(job);
    // Filling can't fail: the job was submitted.
    if (const Waiting* const waiting = waiting_.find(position))
        static_cast<void>(fill(position, waiting->queue));
    else if (const Run* const run = runs_.find(position))
        static_cast<void>(fill(position, run->queue));
    return record_.requested;
}

ifl::Result<void> Engine::start(std::uint64_t job, std::span<const sched::Place> places) {
    if (auto room = room_->check(places); !room) return room;
    const auto position = static_cast<Position>(job);
    Decision decision = decision_of(DecisionKind::run, handle_of(position));
    decision.places = places;
    // The job has the CPUs of its place. The program chooses their number, if the job takes fewer than it
    // asks for.
    const std::uint32_t ncpus = *cluster_.resource("ncpus");
    sched::Amount given{ncpus, 0, {}};
    for (const sched::Place& place : places)
        for (const sched::Amount& amount : place.amounts)
            if (amount.resource == ncpus) given.number = values::amount_sum(given.number, amount.number);
    if (const TraceJob& asked = trace_.jobs[position]; asked.least_cpus > 0) {
        if (given.number < asked.least_cpus || given.number > asked.cpus)
            return tl::unexpected(
                ifl::Error{PBSE_BADATVAL, fmt::format("place: found {} CPUs, expected {} to {} (--moldable)",
                                                      given.number, asked.least_cpus, asked.cpus)});
        decision.set_resources = {&given, 1};
    }
    start(decision, position, *waiting_.find(position));
    return {};
}

void Engine::suspend(std::uint64_t job) {
    stop(job, sched::PreemptMethod::suspend);
}

ifl::Result<void> Engine::resume(std::uint64_t job) {
    const auto position = static_cast<Position>(job);
    const Run* const run = runs_.find(position);
    if (run == nullptr || !run->suspended || run->preempted())
        return tl::unexpected(ifl::Error{PBSE_BADSTATE, {}});
    start(decision_of(DecisionKind::run, handle_of(position)), position, *waiting_.find(position));
    return {};
}

// Ends a run, which may be suspended, or suspends it, at a program's request. The job itself counts as its
// preemptor.
void Engine::stop(std::uint64_t job, sched::PreemptMethod method) {
    const sched::JobHandle handle = handle_of(static_cast<Position>(job));
    Decision decision = decision_of(DecisionKind::preempt, handle);
    decision.for_job = handle;
    decision.methods = {method};
    preempt(decision);
}

void Engine::remove(std::uint64_t job) {
    if (runs_.find(static_cast<Position>(job)) != nullptr) return stop(job, sched::PreemptMethod::remove);
    Decision decision = decision_of(DecisionKind::reject, handle_of(static_cast<Position>(job)));
    decision.text = "deleted by the program that schedules";
    apply(decision);
}

void Engine::comment(std::uint64_t job, std::string_view text) {
    const auto position = static_cast<Position>(job);
    Waiting* const waiting = waiting_.find(position);
    if (waiting == nullptr) return;        // the report has comments of waiting jobs alone
    if (waiting->comment == text) return;  // no change of which the program would be told
    waiting->has_comment = !text.empty();
    waiting->commented = now_;
    waiting->comment = text;
    quotas_.comment(position, text);
    if (fill(position, waiting->queue)) tell_waiting(position);
}

void Engine::estimate(std::uint64_t job, Instant start) {
    Decision decision = decision_of(DecisionKind::estimate, handle_of(static_cast<Position>(job)));
    decision.start = start;
    apply(decision);
}

}  // namespace pbs::simulate
