#include "server_plugin/openpbs/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/scheduling_terms.h"

namespace pbs::openpbs {
namespace {

constexpr std::chrono::milliseconds kTelling{200};        // a run sends comments for at most this time
constexpr std::chrono::milliseconds kTellingAtLeast{30};  // the same limit while a cycle is wanted
constexpr std::size_t kToldAtOnce = 32;                   // comments and estimates sent between two queries

}  // namespace

// ---- Having the plugin decide.

void Scheduling::decide() {
    phase_ = Phase::waiting;
    if (!settle_settings()) return;
    if (run_.qrun) return qrun();
    const auto sched = site_.scheds.find(current_);
    if (sched == site_.scheds.end() || !sched->second.scheduling) return end();
    if (is_by_program(current_)) return end();  // the queries were for the program, which decides
    for (const auto& [id, reservation] : site_.reservations) {
        Decision no;
        no.kind = Decision::Kind::deny;
        no.job = id;
        no.text = reservation.error;
        if (reservation.asked && !reservation.error.empty()) answer_reservation(no);
    }
    for (const auto& [id, expected] : plugin_.records().extend(now()))
        current().client->tell(ifl::RequestType::modify_job_async,
                               ifl::Manage{kSet,
                                           PBS_OBJ_JOB,
                                           id,
                                           {attribute("estimated", "soft_walltime",
                                                      cluster::amount_text(PBS_RES_DURATION, expected))}});
    const auto running = plugin_.start_cycle(now(), current_, run_.trigger);
    if (!running && running.error() == PBSE_TRYAGAIN) return;
    if (!running) {
        ++cycles_;
        log(fmt::format("sched {}: the cycle has failed: error {}", current_, running.error()));
        return end();
    }
    phase_ = Phase::deciding;
    look_at_period();
    if (!*running) take_decisions();
}

void Scheduling::cycle_finished() {
    if (phase_ == Phase::deciding) take_decisions();
}

void Scheduling::take_decisions() {
    auto decisions = plugin_.finish_cycle(now());
    ++cycles_;
    if (run_.dropped) return end();
    if (!decisions) {
        log(fmt::format("sched {}: the cycle has failed: error {}", current_, decisions.error()));
        return end();
    }
    clear_left_estimates(*decisions);
    Untold& untold = current().untold;
    for (Decision& decision : *decisions) {
        if (is_told(decision)) {
            untold.put(std::move(decision));
            continue;
        }
        if (decision.kind == Decision::Kind::run)
            for (const auto kind : {Decision::Kind::comment, Decision::Kind::estimate})
                untold.erase(kind, decision.job);
        run_.decisions.push_back(std::move(decision));
    }
    begin_applying();
}

// Makes the server forget outdated estimates that this cycle doesn't repeat: estimates of an earlier
// scheduler, or of this one before a restart.
void Scheduling::clear_left_estimates(const std::vector<Decision>& decisions) {
    if (std::exchange(estimates_forgotten_, false))
        for (const auto& [job, estimate] : estimates_) tell_estimate(job, estimate);
    for (const Decision& decision : decisions)
        if (decision.kind == Decision::Kind::estimate) left_top_jobs_.erase(decision.job);
    for (const std::string& id : std::exchange(left_top_jobs_, {}))
        if (const Job* job = plugin_.records().job(id);
            job != nullptr && !job->runs() && !estimates_.contains(id))
            clear_estimate(id);
}

void Scheduling::begin_applying() {
    phase_ = Phase::applying;
    apply_some();
}

// ---- Telling users why jobs wait.

// Decides by attr_update_period whether this run may send comments and estimates. A period begins when a run
// sends some. A new value of the attribute ends the period.
void Scheduling::look_at_period() {
    Session& one = current();
    const std::int64_t period = site_.scheds[current_].attr_update_period;
    if (std::exchange(one.period, period) != period) one.told_at = 0;
    if (period != 0) one.tells_on = false;
    run_.tells = now() - one.told_at >= period;
}

// Returns whether another comment or estimate may be sent now. The server begins no other cycle before this
// one is over, and thousands of comments take seconds. So after a while the remaining ones have to wait until
// no cycle is wanted. The server answers neither comments nor estimates. So after some of them a query of the
// server's state is sent, to keep this client from running far ahead of the server.
bool Scheduling::may_tell() {
    const Clock::time_point time = Clock::now();
    if (!run_.telling_since) run_.telling_since = time;
    const auto told_for = time - *run_.telling_since;
    const auto waits = [this](const auto& entry) { return wants(entry.first); };
    const bool is_enough =
        told_for > kTelling || (told_for > kTellingAtLeast && std::ranges::any_of(scheds_, waits));
    if (current().period == 0 && is_enough) {
        run_.told_enough = true;
        current().tells_on = true;
        return false;
    }
    if (run_.told < kToldAtOnce) return true;
    run_.told = 0;
    ++run_.tellings_asked;
    current().client->ask(
        ifl::RequestType::status_server, ifl::Status{{}, {attribute("server_state", {}, {})}}, {},
        [this](const ifl::Result<ifl::Reply>& reply) {
            if (reply) --run_.tellings_asked;
        },
        [](const ifl::ObjectView&) {});
    return true;
}

// Returns whether this run still has comments or estimates to send.
bool Scheduling::has_to_tell() const {
    if (run_.told_enough) return false;
    return run_.tells ? !scheds_.at(current_).untold.empty() : !run_.told_anyway.empty();
}

// Takes the next comment or estimate to send. While the period isn't over, takes only one about a job for
// which another request was sent anyway.
std::optional<Decision> Scheduling::next_untold() {
    Untold& untold = current().untold;
    if (run_.tells) return untold.take();
    while (!run_.told_anyway.empty()) {
        const auto job = run_.told_anyway.begin();
        for (const auto kind : {Decision::Kind::comment, Decision::Kind::estimate})
            if (auto decision = untold.take(kind, *job)) return decision;
        run_.told_anyway.erase(job);
    }
    return std::nullopt;
}

void Scheduling::tell_next() {
    if (!may_tell()) return;
    const auto decision = next_untold();
    if (!decision) return;
    // The job may have been started, held or deleted since the decision.
    const Job* job = plugin_.records().job(decision->job);
    if (job == nullptr) return;
    if (!job->preempted() && (job->runs() || (job->state != 'Q' && job->state != 'B'))) return;
    if (run_.tells) current().told_at = now();
    apply(*decision);
}

// Sends comments and estimates that earlier runs left unsent.
void Scheduling::tell_on(const std::string& sched) {
    begin_run(sched);
    current().tells_on = false;
    begin_applying();
}

// ---- Answering qrun.

void Scheduling::answer_qrun(const std::string& job, int error, const std::string& text) {
    current().client->ask(ifl::RequestType::deferred_scheduler_reply,
                          ifl::DeferredSchedulerReply{kRunOne, job, error, text}, {},
                          [this, job](const ifl::Result<ifl::Reply>& reply) {
                              if (reply && reply->code != 0 && reply->code != PBSE_UNKJOBID)
                                  log(fmt::format("{}: the answer to qrun: {}", job, text_of(*reply)));
                          });
}

void Scheduling::qrun() {
    const std::string job = *run_.qrun;
    const std::string array = cluster::array_of(job);
    // For a subjob, don't preempt other subjobs of its array, like pbs_sched.
    plugin_.records().spare(now(), array);
    auto placed = plugin_.place_job(now(), waiting_id(job));
    plugin_.records().spare(now(), {});
    if (!placed && placed.error() == PBSE_TRYAGAIN) return;
    run_.qrun.reset();
    if (placed) {
        run_.decisions = std::move(*placed);
        run_.qrun_placed = job;
    } else {
        answer_qrun(job, PBSE_UNKJOBID, {});
    }
    run_.again = true;
    run_.tells = false;
    begin_applying();
}

// Carries out the decision about the job of a qrun, and answers the qrun.
void Scheduling::apply_qrun(const std::string& job, const Decision& decision) {
    if (decision.kind != Decision::Kind::run) {
        comment(decision.job, decision.text);
        return answer_qrun(job, PBSE_RESCUNAV, decision.text);
    }
    if (decision.after_preemptions && run_.preempt_failed)
        return answer_qrun(job, PBSE_RESCUNAV, "a job that would have to make room can't be preempted");
    current().client->ask(ifl::RequestType::run_job_acknowledged, ifl::RunJob{job, decision.exec_vnode, 0},
                          {}, [this, job, placed = decision.job](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply) return;
                              answer_qrun(job, reply->code, reply->code == 0 ? "" : text_of(*reply));
                              refresh(placed);
                              if (placed != job) refresh(job);
                          });
}

}  // namespace pbs::openpbs
