#include "server_plugin/openpbs/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/scheduling_terms.h"

namespace pbs::openpbs {
namespace {

constexpr std::chrono::milliseconds kTelling{200};        // the longest time for the comments of a run
constexpr std::chrono::milliseconds kTellingAtLeast{30};  // the same if a scheduler wants a cycle
constexpr std::size_t kToldAtOnce = 32;                   // comments and estimates between two queries

}  // namespace

// ---- Deciding.

void Scheduling::decide() {
    phase_ = Phase::waiting;
    if (!settle_settings()) return;
    if (run_.qrun) return qrun();
    const auto sched = site_.scheds.find(current_);
    if (sched == site_.scheds.end() || !sched->second.scheduling) return end();
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
    run_.decisions = std::move(*decisions);
    clear_left_estimates();
    tell_untold();
    const auto needed = std::find_if(run_.decisions.rbegin(), run_.decisions.rend(),
                                     [](const Decision& decision) { return !is_told(decision); });
    begin_applying(static_cast<std::size_t>(run_.decisions.rend() - needed));
}

// Has the server forget estimates that are out of date: those of an earlier scheduler, or of this one before
// a restart, that this cycle doesn't repeat.
void Scheduling::clear_left_estimates() {
    if (std::exchange(estimates_forgotten_, false))
        for (const auto& [job, estimate] : estimates_) tell_estimate(job, estimate);
    for (const Decision& decision : run_.decisions)
        if (decision.kind == Decision::Kind::estimate) left_top_jobs_.erase(decision.job);
    for (const std::string& id : std::exchange(left_top_jobs_, {}))
        if (const Job* job = plugin_.records().job(id);
            job != nullptr && !job->runs() && !estimates_.contains(id))
            clear_estimate(id);
}

// `only_told`: the decisions from this index on only send comments and estimates.
void Scheduling::begin_applying(std::size_t only_told) {
    run_.only_told = only_told;
    phase_ = Phase::applying;
    apply_some();
}

// ---- Telling why jobs wait.

// Decides by attr_update_period whether this run may send comments and estimates. A period begins when one is
// sent. A new value of the attribute ends the period.
void Scheduling::look_at_period() {
    Session& one = current();
    const std::int64_t period = site_.scheds[current_].attr_update_period;
    if (std::exchange(one.period, period) != period) one.told_at = 0;
    if (period != 0) one.tells_on = false;
    run_.tells = now() - one.told_at >= period;
}

// Adds earlier cycles' comments and estimates that weren't sent, unless this cycle has newer ones.
void Scheduling::tell_untold() {
    auto& untold = current().untold;
    if (untold.empty()) return;
    std::set<std::string> waited;  // jobs whose comments go before those of others
    for (const Decision& decision : run_.decisions) {
        if (decision.kind == Decision::Kind::accrue) run_.told_anyway.insert(decision.job);
        if (untold.erase({decision.kind, decision.job}) > 0) waited.insert(decision.job);
        if (decision.kind != Decision::Kind::run) continue;
        untold.erase({Decision::Kind::comment, decision.job});
        untold.erase({Decision::Kind::estimate, decision.job});
    }
    for (auto entry = untold.begin(); entry != untold.end();) {
        const Job* job = plugin_.records().job(entry->second.job);
        if (job == nullptr || job->runs() || (job->state != 'Q' && job->state != 'B')) {
            entry = untold.erase(entry);
        } else if (run_.tells || run_.told_anyway.contains(entry->second.job)) {
            waited.insert(entry->second.job);
            run_.decisions.push_back(std::move(entry->second));
            entry = untold.erase(entry);
        } else {
            ++entry;
        }
    }
    std::stable_partition(run_.decisions.begin(), run_.decisions.end(), [&](const Decision& decision) {
        return !is_told(decision) || waited.contains(decision.job);
    });
}

// May another comment or estimate be sent now? The server begins no other cycle before this one is over, and
// thousands of comments take seconds, so the rest waits after a while until no cycle is wanted. The server
// answers neither, so a query in between keeps this client from running far ahead of the server.
bool Scheduling::may_tell() {
    const Clock::time_point time = Clock::now();
    if (!run_.telling_since) run_.telling_since = time;
    const auto told_for = time - *run_.telling_since;
    const auto waits = [this](const auto& entry) { return wants(entry.first); };
    const bool is_enough =
        told_for > kTelling || (told_for > kTellingAtLeast && std::ranges::any_of(scheds_, waits));
    if (current().period == 0 && is_enough) {
        put_off();
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

void Scheduling::tell_on(const std::string& sched) {
    begin_run(sched);
    current().tells_on = false;
    tell_untold();
    begin_applying(0);
}

void Scheduling::put_off() {
    for (; run_.applied < run_.decisions.size(); ++run_.applied) {
        Decision& decision = run_.decisions[run_.applied];
        current().untold.insert_or_assign({decision.kind, decision.job}, std::move(decision));
    }
    current().tells_on = true;
}

// Stores a comment or estimate for later. False: send it now, because the period is over or because something
// else is sent about the job anyway.
bool Scheduling::keep_untold(const Decision& decision) {
    if (run_.tells) current().told_at = now();
    if (run_.tells || run_.told_anyway.contains(decision.job)) return false;
    current().untold.insert_or_assign({decision.kind, decision.job}, decision);
    return true;
}

// ---- qrun.

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
    // Don't preempt jobs of an array for one of its own subjobs, as in pbs_sched.
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
    begin_applying(run_.decisions.size());
}

// Applies the decision about the job of the qrun.
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
