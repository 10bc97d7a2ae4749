#include "server_plugin/openpbs/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ifl/attributes/execvnodes.h"
#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/scheduling_terms.h"

namespace pbs::openpbs {
namespace {

constexpr std::size_t kWindow = 64;  // the most unanswered requests
// While so many queries of the server's state are unanswered, no comments are sent. So comments don't run far
// ahead of the server.
constexpr std::size_t kMostAsked = 2;
constexpr std::size_t kMostUnsent = 1U << 20;
constexpr std::size_t kFew = 8;          // at most so many starts are treated one by one
constexpr std::int32_t kIneligible = 1;  // OpenPBS's accrue_type of jobs that gain nothing by waiting

// Returns the places of a confirmed reservation, as the request to the server has them. For a standing
// reservation they are the places of all occurrences that are left, including occurrences that keep their
// vnodes.
std::string confirmed_nodes(const Reservation& reservation, const Decision& decision) {
    if (!reservation.standing) return decision.exec_vnode;
    if (reservation.one_altered) return ifl::execvnodes_text({decision.exec_vnode});
    auto next = decision.exec_vnodes.begin();
    const auto take = [&](bool asked, const std::string& held) {
        return asked && next != decision.exec_vnodes.end() ? *next++ : held;
    };
    std::vector<std::string> all{take(!reservation.keeps_first, reservation.nodes)};
    for (const Reservation::Occurrence& one : reservation.later) all.push_back(take(one.asked, one.nodes));
    if (std::ranges::find(all, std::string()) != all.end()) return {};
    return ifl::execvnodes_text(all);
}

// Returns the methods of `order`, a preempt_order, that the server can try for the job. If `order` has
// several steps, which depend on the job's remaining time, the result has their percentages, and so differs
// from any list of methods.
std::string tried_for(const Job& job, std::string_view order) {
    std::string out;
    for (const char method : order) {
        if (method == 'C' && !job.checkpointable) continue;
        if (method == 'R' && !job.rerunnable) continue;
        out += method;
    }
    return out;
}

}  // namespace

// ---- Carrying decisions out.

bool Scheduling::may_apply() const {
    if (phase_ != Phase::applying) return false;
    const ServerClient& client = *scheds_.at(current_).client;
    if (client.unanswered() >= kWindow || client.unsent() >= kMostUnsent) return false;
    if (run_.applied == run_.decisions.size()) return has_to_tell() && run_.tellings_asked < kMostAsked;
    // A job that starts in the place of preempted jobs has to wait for the answers to the requests to preempt
    // them.
    return !run_.decisions[run_.applied].after_preemptions || run_.preempting == 0;
}

void Scheduling::apply_some() {
    ServerClient& client = *current().client;
    while (may_apply()) {
        if (run_.applied == run_.decisions.size()) {
            look_at_starts();
            tell_next();
        } else if (run_.decisions[run_.applied].kind == Decision::Kind::preempt)
            preempt();
        else
            apply(run_.decisions[run_.applied++]);
    }
    if (run_.applied == run_.decisions.size()) look_at_starts();
    client.work();
    if (client.state() == ServerClient::State::closed) return lost(current_, current());
    const bool done = run_.applied == run_.decisions.size() && !has_to_tell();
    if (done && client.unanswered() == 0 && client.unsent() == 0) end();
}

void Scheduling::comment(const std::string& job, const std::string& text) {
    const Job* known = plugin_.records().job(job);
    if (!text.empty()) current().untold.erase(Decision::Kind::comment, job);
    if (text.empty() || (known != nullptr && known->comment == text)) return;
    current().client->tell(ifl::RequestType::modify_job_async,
                           ifl::Manage{kSet, PBS_OBJ_JOB, job, {attribute("comment", {}, text)}});
    ++run_.told;
    plugin_.records().commented(job, text);
}

void Scheduling::accrue(const std::string& job, std::int32_t type) {
    current().client->tell(
        ifl::RequestType::modify_job_async,
        ifl::Manage{kSet, PBS_OBJ_JOB, job, {attribute("accrue_type", {}, fmt::format("{}", type))}});
}

// Sends an estimate to the server. A server with clear_topjob_estimates_enable gets `topjob`, too, and later
// forgets the estimate. Other servers may not know that attribute.
void Scheduling::tell_estimate(const std::string& job, const Estimate& estimate) {
    const auto& [start, exec_vnode] = estimate;
    ifl::Attributes attributes{attribute("estimated", "start_time", fmt::format("{}", start))};
    if (!exec_vnode.empty()) attributes.push_back(attribute("estimated", "exec_vnode", exec_vnode));
    if (site_.server.clears_estimates) attributes.push_back(attribute("topjob", {}, "True"));
    current().client->tell(ifl::RequestType::modify_job_async,
                           ifl::Manage{kSet, PBS_OBJ_JOB, job, std::move(attributes)});
    ++run_.told;
}

// Makes the server forget the job's estimate, because its start is no longer foreseen.
void Scheduling::clear_estimate(const std::string& job) {
    if (!site_.server.clears_estimates) return;
    current().client->tell(ifl::RequestType::modify_job_async,
                           ifl::Manage{kSet, PBS_OBJ_JOB, job, {attribute("topjob", {}, "False")}});
    ++run_.told;
}

// Sends the decision about a reservation to the server, which tells the client that has requested it.
void Scheduling::answer_reservation(const Decision& decision) {
    const auto reservation = site_.reservations.find(decision.job);
    if (reservation == site_.reservations.end()) return;
    std::string nodes;
    if (decision.kind == Decision::Kind::confirm) nodes = confirmed_nodes(reservation->second, decision);
    const bool granted = !nodes.empty();
    if (!granted) nodes = "null";
    const std::string& partition = site_.scheds[current_].partition;
    log(granted ? fmt::format("{}: confirmed", decision.job)
                : fmt::format("{}: not confirmed: {}", decision.job, decision.text));
    current().client->ask(
        ifl::RequestType::confirm_reservation,
        ifl::RunJob{
            decision.job, nodes,
            static_cast<std::uint64_t>(decision.start != 0 ? decision.start : reservation->second.start)},
        granted ? fmt::format("PBS_RESV_CONFIRM_SUCCESS:partition={}",
                              partition.empty() ? "pbs-default" : partition)
                : "PBS_RESV_CONFIRM_FAIL",
        [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
            if (reply && reply->code != 0)
                log(fmt::format("{}: the answer is refused by the server: {}", id, text_of(*reply)));
        });
}

void Scheduling::apply(const Decision& decision) {
    if (decision.kind == Decision::Kind::confirm || decision.kind == Decision::Kind::deny)
        return answer_reservation(decision);
    ServerClient& client = *current().client;
    const Job* job = plugin_.records().job(decision.job);
    if (run_.qrun_placed) return apply_qrun(*std::exchange(run_.qrun_placed, {}), decision);
    if (job == nullptr) return;
    switch (decision.kind) {
        case Decision::Kind::run:
            // If a preemption has failed, the place isn't free: drop the decision.
            if (decision.after_preemptions && run_.preempt_failed) return;
            if (job->preempted()) return resume(decision.job);
            return run(decision);
        case Decision::Kind::comment:
            // Keep the comment of a job that was preempted for another one: it names the other job. Keep the
            // comment of a begun array, too: it says since when the array runs.
            if (job->preempted_at != 0 && cluster::names_preemption(job->comment)) return;
            if (job->array && job->state == 'B') return;
            return comment(decision.job, decision.text);
        case Decision::Kind::accrue:
            run_.told_anyway.insert(decision.job);
            accrue(decision.job, decision.accrue_type);
            return refresh(decision.job);
        case Decision::Kind::estimate: {
            const Estimate estimate{decision.start, decision.exec_vnode};
            if (decision.start == 0) {
                estimates_.erase(decision.job);
                current().untold.erase(decision.kind, decision.job);
                return clear_estimate(decision.job);
            }
            auto& told = estimates_[decision.job];
            if (told == estimate) return;
            told = estimate;
            return tell_estimate(decision.job, estimate);
        }
        case Decision::Kind::move:
            client.ask(ifl::RequestType::move_job, ifl::MoveJob{decision.job, decision.queue}, {},
                       [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
                           if (!reply) return;
                           if (reply->code != 0) return refused(id, *reply);
                           run_.again = true;
                           refresh(id);
                       });
            return;
        case Decision::Kind::reject:
            // Set the comment before the job is deleted, because the history of jobs keeps the comment.
            comment(decision.job, decision.text);
            log(fmt::format("{}: rejected: {}", decision.job, decision.text));
            // Use delete_job_list, because OpenPBS 23.06 never answers the older request, delete_job.
            client.ask(ifl::RequestType::delete_job_list, ifl::DeleteJobList{{decision.job}}, {},
                       [this, id = decision.job](const ifl::Result<ifl::Reply>& reply) {
                           if (!reply) return;
                           const auto* answer = std::get_if<ifl::DeleteReply>(&reply->body);
                           if (answer != nullptr && !answer->failed.empty())
                               return refused(
                                   id, ifl::Reply::error(static_cast<int>(answer->failed.front().code)));
                           if (reply->code != 0) return refused(id, *reply);
                           refresh(id);
                       });
            return;
        default:
            return;
    }
}

// Sends one request to preempt the jobs of the next decisions, as long as these have the same methods. The
// server tries the methods of the scheduler's preempt_order. It answers when each of the jobs has been
// preempted, or couldn't be.
void Scheduling::preempt() {
    ServerClient& client = *current().client;
    const std::string methods = run_.decisions[run_.applied].methods;
    std::vector<std::string> jobs;
    std::map<std::string, Preemption> others;  // by preempted job
    for (; run_.applied < run_.decisions.size(); ++run_.applied) {
        const Decision& decision = run_.decisions[run_.applied];
        if (decision.kind != Decision::Kind::preempt || decision.methods != methods) break;
        if (plugin_.records().job(decision.job) == nullptr) continue;
        jobs.push_back(decision.job);
        others[decision.job] = {decision.for_job, decision.text};
    }
    if (jobs.empty()) return;
    std::string& order = site_.scheds[current_].preempt_order;
    const bool same = std::ranges::all_of(jobs, [&](const std::string& job) {
        return tried_for(*plugin_.records().job(job), order) == methods;
    });
    if (!same) {
        order = methods;
        orders_given_[current_].push_back(methods);
        client.ask(
            ifl::RequestType::manager,
            ifl::Manage{kSet, PBS_OBJ_SCHED, current_, {attribute("preempt_order", {}, methods)}}, {},
            [this](const ifl::Result<ifl::Reply>& reply) {
                if (!reply || reply->code == 0) return;
                log(fmt::format("sched {}: preempt_order can't be set: {}", current_, text_of(*reply)));
                stale_server_ = true;
            });
    }
    ++run_.preempting;
    client.ask(ifl::RequestType::preempt_jobs, ifl::PreemptJobs{jobs}, {},
               [this, jobs, others](const ifl::Result<ifl::Reply>& reply) {
                   if (!reply) return;
                   --run_.preempting;
                   std::map<std::string, char> methods_used;
                   if (const auto* answer = std::get_if<ifl::PreemptReply>(&reply->body))
                       for (const auto& [job, by] : answer->jobs)
                           methods_used[job] = by.empty() ? '0' : by.front();
                   else
                       log(fmt::format("sched {}: preempting is refused: {}", current_, text_of(*reply)));
                   for (const std::string& job : jobs) {
                       const auto used = methods_used.find(job);
                       preempted(job, others.at(job), used == methods_used.end() ? '0' : used->second);
                   }
               });
}

// Handles the outcome of a job's preemption. `method`: the letter of the method that the server has used; any
// other letter means that it couldn't preempt the job.
void Scheduling::preempted(const std::string& id, const Preemption& done, char method) {
    const std::string occasion = cluster::occasion_of_preemption(done.for_job);
    std::string_view way;
    if (method == 'S') way = "suspension";
    if (method == 'C') way = "checkpointing";
    if (method == 'Q') way = "requeuing";
    if (method != 'D' && way.empty()) {
        log(fmt::format("{}: can't be preempted {}", id, occasion));
        run_.preempt_failed = run_.preempt_failed || !done.for_job.empty();
        run_.again = true;
        plugin_.records().not_preemptable(now(), id);
        return;
    }
    log(fmt::format("{}: preempted {}, by {}", id, occasion, way.empty() ? "deletion" : way));
    if (done.for_job.empty()) run_.again = true;  // another job may use the place
    if (!done.comment.empty())
        comment(id, done.comment);
    else if (!way.empty())
        comment(id, fmt::format("Not Running: Preempted by {} {}", way, occasion));
    refresh(id);
}

// Resumes a suspended job in its place. If that fails, the next cycle tries again; no cycle is begun for the
// failure.
void Scheduling::resume(const std::string& id) {
    current().client->ask(ifl::RequestType::signal_job, ifl::SignalJob{id, "resume"}, {},
                          [this, id](const ifl::Result<ifl::Reply>& reply) {
                              if (!reply) return;
                              if (reply->code != 0)
                                  log(fmt::format("{}: can't be resumed: {}", id, text_of(*reply)));
                              refresh(id);
                          });
}

// Runs a job. A job that has to change its queue is moved first. Sends no comment: the server gives the job
// comments of its own when it sends the job to a MoM, and when the job runs.
void Scheduling::run(const Decision& decision) {
    ServerClient& client = *current().client;
    const Job& job = *plugin_.records().job(decision.job);
    const bool array = job.array;
    const std::string id = plugin_.records().starts(now(), decision);
    if (id.empty()) return;
    // The array's next subjob precedes all jobs behind the array. So leave the further decisions to the next
    // cycle, apart from those that start subjobs of the array together with this one.
    if (array) {
        run_.again = true;
        const Job* left = plugin_.records().job(decision.job);
        if (left != nullptr && !left->queued.empty() && decision.together < 2)
            run_.applied = run_.decisions.size();
        // All subjobs have started, so the array gains nothing by waiting. The server doesn't set its
        // accrue_type itself.
        if (left != nullptr && left->queued.empty() && site_.server.counts_eligible_time &&
            left->accrue_type != kIneligible)
            accrue(decision.job, kIneligible);
    }
    estimates_.erase(decision.job);
    if (decision.queue.empty() && decision.set_resources.empty()) return send_run(decision, id);
    const auto set_and_run = [this, decision, id] {
        if (decision.set_resources.empty()) return send_run(decision, id);
        ifl::Attributes attributes;
        const bool has_select = std::ranges::any_of(decision.set_resources,
                                                    [](const auto& set) { return set.first == "select"; });
        // The server computes the totals from a select, and refuses a request that has totals beside it.
        for (const auto& [name, value] : decision.set_resources)
            if (!has_select || name == "select" || name == "walltime")
                attributes.push_back(attribute("Resource_List", name, value));
        current().client->ask(ifl::RequestType::modify_job,
                              ifl::Manage{kSet, PBS_OBJ_JOB, decision.job, std::move(attributes)}, {},
                              [this, decision, id](const ifl::Result<ifl::Reply>& reply) {
                                  if (!reply) return;
                                  if (reply->code != 0) return refused(id, *reply);
                                  send_run(decision, id);
                              });
    };
    if (decision.queue.empty()) return set_and_run();
    client.ask(ifl::RequestType::move_job, ifl::MoveJob{decision.job, decision.queue}, {},
               [this, set_and_run, id](const ifl::Result<ifl::Reply>& reply) {
                   if (!reply) return;
                   if (reply->code != 0) return refused(id, *reply);
                   set_and_run();
               });
}

// Sends the request to run the job. job_run_wait says when the server answers the request: when it has the
// request, when runjob hooks have seen the job, or when the job runs. If there are no runjob hooks, doesn't
// wait for them, like pbs_sched.
void Scheduling::send_run(const Decision& decision, const std::string& id) {
    ServerClient& client = *current().client;
    ifl::RunJob request{id, decision.exec_vnode, 0};
    const std::string& wait = site_.scheds[current_].job_run_wait;
    if (wait == "none" || (wait != "execjob_hook" && !site_.server.has_runjob_hook)) {
        client.tell(ifl::RequestType::async_run_job, std::move(request));
        // The server doesn't answer this request, and doesn't say why it hasn't run the job.
        run_.started.push_back(id);
        return;
    }
    client.ask(wait == "execjob_hook" ? ifl::RequestType::run_job : ifl::RequestType::run_job_acknowledged,
               std::move(request), {}, [this, id](const ifl::Result<ifl::Reply>& reply) {
                   if (reply && reply->code != 0) refused(id, *reply);
                   if (!reply || reply->code != 0) return;
                   failed_.erase(waiting_id(id));
               });
}

// Sets a job aside after the server has refused to run it. After each further refusal the job stays aside
// longer.
void Scheduling::set_aside(const std::string& job) {
    constexpr int kMostDoubled = 6;
    Failed& failed = failed_[job];
    const int before = failed.times++;
    failed.stays = before > 0;
    failed.waits = true;
    failed.again = Clock::now() + std::chrono::seconds(1 << std::clamp(before - 1, 0, kMostDoubled));
    plugin_.records().put_aside(now(), job);
}

void Scheduling::look_at_failed(Clock::time_point time) {
    for (auto& [job, failed] : failed_) {
        if (!failed.waits || failed.again > time) continue;
        failed.waits = false;
        want_cycles();
    }
}

// Handles the refusal of a decision about a job, by the server or a hook.
void Scheduling::refused(const std::string& id, const ifl::Reply& reply) {
    log(fmt::format("{}: refused by the server: {}", id, text_of(reply)));
    const std::string job = waiting_id(id);
    if (reply.code != PBSE_UNKJOBID && reply.code != PBSE_BADSTATE)
        comment(job, fmt::format("Not Running: PBS Error: {}", text_of(reply)));
    set_aside(job);
    // The place of the job is free again. So run another cycle at once, without this job.
    run_.again = true;
    refresh(job);
    if (job != id) refresh(id);
}

// Queries the jobs that were started since the last call: a few one by one, more jobs by one query of all.
void Scheduling::look_at_starts() {
    std::vector<std::string> started = std::exchange(run_.started, {});
    if (started.size() <= kFew) {
        for (const std::string& id : started) refresh(id, true);
        return;
    }
    auto found = std::make_shared<std::map<std::string, Job>>();
    current().client->ask(
        ifl::RequestType::select_status,
        ifl::Select{changed_since(run_.learnt.asked), cluster::job_attributes()}, kSubjobsToo,
        [this, started, found](const ifl::Result<ifl::Reply>& reply) {
            if (!reply) return;
            for (const std::string& id : started) {
                const auto job = found->find(id);
                if (job == found->end())
                    refresh(id, true);
                else
                    started_as(id, std::move(job->second));
            }
        },
        [found, asked = now()](const ifl::ObjectView& object) {
            (*found)[std::string(object.name)] = cluster::job_of(object.name, object.attributes, asked);
        });
}

// Notes a job's state after a request to run it. A job that still waits was refused.
void Scheduling::started_as(const std::string& id, Job job) {
    const bool waits = !job.runs() && job.state == 'Q';
    (void)plugin_.records().tell(now(), std::move(job));
    const std::string waiting = waiting_id(id);
    if (!waits) {
        failed_.erase(waiting);
        return;
    }
    log(fmt::format("{}: the server has not run it", id));
    set_aside(waiting);
    // A job that has failed before stays aside, and its place is free. So run another cycle at once, without
    // the job.
    run_.again = run_.again || failed_[waiting].stays;
    if (waiting != id) refresh(waiting);
}

// Queries a job. `was_run`: the server was requested to run the job.
void Scheduling::refresh(const std::string& id, bool was_run) {
    auto found = std::make_shared<std::optional<Job>>();
    current().client->ask(
        ifl::RequestType::status_job, ifl::Status{id, cluster::job_attributes()}, {},
        [this, id, found, was_run](const ifl::Result<ifl::Reply>& reply) {
            if (!reply) return;
            if (reply->code == 0 && *found) {
                if (was_run) return started_as(id, std::move(**found));
                if (!is_outdated(**found)) (void)plugin_.records().tell(now(), std::move(**found));
            } else {
                (void)forget(id);
            }
        },
        [found, asked = now()](const ifl::ObjectView& object) {
            *found = cluster::job_of(object.name, object.attributes, asked);
        });
}

}  // namespace pbs::openpbs
