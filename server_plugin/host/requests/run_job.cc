// RunJob (qrun) and its two asynchronous forms: an operator starts a job now. The destination names vnodes,
// "n1" or "n1+n2", to which the chunks are given in turn, or an exec_vnode with amounts; without one the
// policy plugin finds a place, which may have to wait for the end of a cycle.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/cycle.h"
#include "server_plugin/host/exec_vnode.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/placement.h"
#include "server_plugin/host/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

Result<Decision> named_places(const Job& job, const State& state, std::string_view destination) {
    auto asked = parse_exec_vnode(destination, state);
    if (!asked) return tl::unexpected(asked.error());
    Decision decision;
    decision.kind = Decision::Kind::run;
    const bool amounts = std::ranges::any_of(*asked, [](const Place& p) { return !p.amounts.empty(); });
    decision.places = amounts ? *std::move(asked) : deal_chunks(job, state, *asked);
    return decision;
}

Result<const Job*> startable_job(const Context& context, std::string_view id) {
    auto job = live_job(context, id);
    if (!job) return job;
    if ((*job)->running() || (*job)->state == job_state::transit) return fail(PBSE_BADSTATE, {});
    const Queue* queue = context.state().queue((*job)->queue);
    if (queue == nullptr || !queue->execution()) return fail(PBSE_IVALREQ, {});
    return job;
}

// A comment has "Not Running: " or "Can Never Run: " before the reason.
std::string_view reason_in(std::string_view comment) {
    for (const std::string_view begin : {"Not Running: ", "Can Never Run: "})
        if (comment.starts_with(begin)) return comment.substr(begin.size());
    return comment;
}

ifl::Reply start(Change& change, Job& job, const Decision& decision, const std::string& by) {
    auto done = check_places(decision.places, change.server().state);
    if (done) done = start_as_decided(change, job, decision);
    if (!done) return refuse(done.error());
    log_job(change, job, fmt::format("Job Run at request of {}", by));
    return reply_of(change.commit());
}

// Why it doesn't start is its comment until a cycle finds something else. One that says what a job is held or
// waits for stays.
ifl::Reply tell_why_not(Change& change, Job& job, std::string_view comment) {
    if (job.state == job_state::queued) {
        set_comment(job, comment);
        job.mtime = change.now();
        if (auto ok = change.commit(); !ok) return refuse(ok.error());
    }
    return ifl::Reply::error(PBSE_RESCUNAV, std::string(reason_in(comment)));
}

// On the vnodes that the operator names, or where the plugin finds room.
Result<Decision> decide(const Context& context, const Job& job, std::string_view destination, int64_t now) {
    if (!destination.empty()) return named_places(job, context.state(), destination);
    Plugin* const plugin = context.server.parts.plugin;
    if (plugin == nullptr) return fail(PBSE_NOSUP, {});
    return plugin->place_job(now, job.handle, context.state());
}

// Nothing: a cycle runs, and the plugin can't tell before its end.
std::optional<ifl::Reply> try_run(Context& context) {
    const auto& body = std::get<ifl::RunJob>(context.request.body);
    Server& server = context.server;
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    const auto current = startable_job(context, body.job);
    if (!current) return refuse(current.error());
    const int64_t now = server.now();
    const auto decision = decide(context, **current, body.destination, now);
    if (!decision && decision.error().code == PBSE_TRYAGAIN) return std::nullopt;
    if (!decision) return refuse(decision.error());
    Change change(server, now);
    Job& job = change.job(**current);
    if (decision->kind == Decision::Kind::run) return start(change, job, *decision, requestor(context));
    return tell_why_not(change, job, decision->text);
}

class RunLater final : public Steps {
  public:
    explicit RunLater(Server& server) : server_(server) { ++server_.placing; }
    ~RunLater() override { --server_.placing; }

    Left step(Context& context, ifl::StatusParts&) override {
        auto reply = try_run(context);
        if (!reply) return Left::later;
        reply_ = *std::move(reply);
        return Left::nothing;
    }
    ifl::Reply reply() override { return std::move(reply_); }

  private:
    Server& server_;
    ifl::Reply reply_;
};

}  // namespace

ifl::Reply run_job(Context& context) {
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    if (auto reply = try_run(context)) return *std::move(reply);
    context.rest = std::make_unique<RunLater>(context.server);
    return {};
}

}  // namespace pbs::host
