// RunJob (qrun) and its two asynchronous forms: start a job at once, for an operator. The destination names
// vnodes, "n1" or "n1+n2", over which the chunks are distributed, or is an exec_vnode with amounts. Without a
// destination the policy plugin finds a place, perhaps only after the present cycle. With "check=True" in the
// extend string the job starts only if the plugin's filters let it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "ifl/pbs_error.h"
#include "ifl/program_requests.h"
#include "server_plugin/host/cycle/apply_decisions.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/test_start.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/placement.h"
#include "values/amount.h"

namespace pbs::host {
namespace {

// Finds the job that is to be started, or for a subjob its array. Checks that the job can be started.
Result<Target> startable(const Context& context, std::string_view id) {
    auto target = own_target(context, id);
    if (!target) return target;
    const Job& job = *target->job;
    if (job.running() || job.state == job_state::kTransit) return fail(PBSE_BADSTATE, {});
    const Queue* queue = context.state().queue(job.queue);
    if (queue == nullptr || !queue->execution()) return fail(PBSE_IVALREQ, {});
    if (!job.is_array()) return target;
    // Refuse an array as a whole: only its subjobs can be started.
    if (!target->subjobs()) return fail(PBSE_IVALREQ, {});
    if (!target->single) return target;
    const char state = subjob_state(job, target->indices[0].first, context.state());
    if (state == '\0') return fail(PBSE_IVALREQ, {});
    if (state != job_state::kQueued) return fail(PBSE_BADSTATE, {});
    return target;
}

Result<void> start_subjob(Change& change, Job& array, int64_t index, const Decision& decision,
                          const std::string& by) {
    auto subjob = subjob_to_start(change, array, index);
    if (!subjob) return tl::unexpected(subjob.error());
    if (auto done = start_as_decided(change, *subjob, decision); !done) return done;
    log_job(change, *subjob, fmt::format("Job Run at request of {}", by));
    return add_started_subjob(change, array, *std::move(subjob));
}

ifl::Reply start(Change& change, const Target& target, Job& job, const Decision& decision,
                 const std::string& by) {
    auto done = check_places(decision.places, change.server().state);
    if (done && target.subjobs()) {
        done = start_subjob(change, job, target.indices[0].first, decision, by);
    } else if (done) {
        done = start_as_decided(change, job, decision);
        log_job(change, job, fmt::format("Job Run at request of {}", by));
    }
    if (!done) return refuse(done.error());
    return reply_of(change.commit());
}

// Refuses to start the job: the reply has the reason. The job's comment has the reason, too, until a cycle
// finds another one. A job that is held or waits for its time keeps its comment.
ifl::Reply tell_why_not(Change& change, Job& job, std::string_view comment) {
    if (job.state == job_state::kQueued || job.state == job_state::kBegun) {
        set_comment(job, comment);
        job.mtime = change.now();
        if (auto ok = change.commit(); !ok) return refuse(ok.error());
    }
    return ifl::Reply::error(PBSE_RESCUNAV, std::string(ifl::reason_in(comment)));
}

// Decides where the job runs: at the places that the request names, or at those that the plugin finds.
// PBSE_TRYAGAIN: the plugin has to be asked, but a cycle runs, or a thread of the plugin works on the answer
// for this ticket.
Result<Decision> decide(const Context& context, const Job& job, std::string_view destination, int64_t now,
                        bool checked, uint64_t ticket) {
    Plugin* const plugin = context.server.parts.plugin;
    Decision decision;
    decision.kind = Decision::Kind::run;
    // Read the place only once the plugin can test it: a place may be long.
    if (checked && plugin != nullptr && plugin->has_cycle()) return fail(PBSE_TRYAGAIN, {});
    if (!destination.empty()) {
        auto places = named_places(job, context.state(), destination, checked);
        if (!places) return tl::unexpected(places.error());
        decision.places = *std::move(places);
        if (!checked) return decision;
    }
    if (plugin == nullptr) return fail(PBSE_NOSUP, {});
    if (!checked) return plugin->place_job(now, job.told_as(), context.state());
    auto tested =
        plugin->test_start(now, job.told_as(), decision.places, context.state(), context.who.user, ticket);
    return tested && tested->kind == Decision::Kind::run && !destination.empty() ? decision : tested;
}

// Tries to start the job. Returns nullopt if the plugin hasn't got the answer yet: try again, with the same
// ticket.
std::optional<ifl::Reply> try_run(Context& context, const std::string& id, uint64_t ticket) {
    const auto& body = std::get<ifl::RunJob>(context.request.body);
    Server& server = context.server;
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    const auto target = startable(context, id);
    if (!target) return refuse(target.error());
    const int64_t now = server.now();
    const auto checked = ifl::is_checked(context.request.extend);
    if (!checked) return refuse(checked.error());
    const auto decision = decide(context, *target->job, body.destination, now, *checked, ticket);
    if (!decision && decision.error().code == PBSE_TRYAGAIN) return std::nullopt;
    if (!decision && decision.error().code == PBSE_OBJBUSY)
        return ifl::Reply::error(PBSE_TRYAGAIN, decision.error().message);
    if (!decision) return refuse(decision.error());
    if (*checked && decision->kind != Decision::Kind::run)
        return ifl::Reply::error(PBSE_RESCUNAV, std::string(ifl::reason_in(decision->text)));
    Change change(server, now);
    Job& job = change.job(*target->job);
    if (decision->kind == Decision::Kind::run)
        return start(change, *target, job, *decision, requestor(context));
    return tell_why_not(change, job, decision->text);
}

// Starts the jobs one by one, when no cycle runs. Ends when one of the jobs can't start. While it waits for
// the end of a cycle, no further one begins. While the plugin searches in its thread, cycles and other
// requests go on.
class RunLater final : public Steps {
  public:
    // `ticket`: that with which the first job was tried.
    RunLater(Server& server, std::deque<std::string> jobs, uint64_t ticket)
        : server_(server), jobs_(std::move(jobs)), ticket_(ticket) {
        wait_for_cycle(true);
    }
    ~RunLater() override {
        wait_for_cycle(false);
        abandon();
    }

    Remaining step(Context& context, ifl::StatusParts&) override {
        auto reply = try_run(context, jobs_.front(), ticket_);
        if (!reply) {
            wait_for_cycle(server_.parts.plugin->has_cycle());
            return Remaining::later;
        }
        reply_ = *std::move(reply);
        jobs_.pop_front();
        // Give the ticket up, because the job may have got its answer without the plugin: it is gone, or
        // runs.
        abandon();
        ticket_ = ++server_.last_ticket;
        return reply_.code != 0 || jobs_.empty() ? Remaining::nothing : Remaining::more;
    }
    ifl::Reply reply() override { return std::move(reply_); }

  private:
    void wait_for_cycle(bool waits) {
        if (waits != waits_) server_.placing += waits ? 1 : -1;
        waits_ = waits;
    }
    void abandon() const {
        if (server_.parts.plugin != nullptr) server_.parts.plugin->abandon(ticket_);
    }

    Server& server_;
    std::deque<std::string> jobs_;
    uint64_t ticket_;
    bool waits_ = false;
    ifl::Reply reply_;
};

// Returns the ids of the queued subjobs in a target's ranges of indices. PBSE_BADSTATE: there are none.
Result<std::deque<std::string>> queued_of(const Target& target) {
    std::deque<std::string> ids;
    const Job& array = *target.job;
    for (const IndexRange& range : target.indices) {
        const int64_t last = std::min(range.last, array.subjobs->submitted.last);
        for (int64_t index = range.first; index <= last; index += range.step)
            if (array.subjobs->queued.contains(index)) ids.push_back(subjob_id(array, index));
    }
    if (ids.empty()) return fail(PBSE_BADSTATE, {});
    return ids;
}

}  // namespace

ifl::Reply run_job(Context& context) {
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    const std::string& id = std::get<ifl::RunJob>(context.request.body).job;
    std::deque<std::string> jobs{id};
    const uint64_t ticket = ++context.server.last_ticket;
    if (const auto target = startable(context, id); target && target->subjobs() && !target->single) {
        auto queued = queued_of(*target);
        if (!queued) return refuse(queued.error());
        jobs = *std::move(queued);
    } else if (auto reply = try_run(context, id, ticket)) {
        return *std::move(reply);
    }
    context.rest = std::make_unique<RunLater>(context.server, std::move(jobs), ticket);
    return {};
}

}  // namespace pbs::host
