// ReadyToCommit and Commit: put the job that this connection has sent into its queue. The job is stored
// before the reply is sent.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/peers/arrival.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/executable.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// Puts the job into the requested queue. From a route queue the job is routed on; if all destinations refuse
// it only for the time being, it stays in the route queue.
Result<void> enter(Change& change, Submission& submission, const Queue& queue) {
    Job& job = submission.job;
    Server& server = change.server();
    const auto& fitted = submission.fitted;
    const bool fits = fitted && fitted->at == server.now() && fitted->setup == server.state.setup();
    if (auto ok = fits ? Result<void>() : fit_to_queue(job, queue, server); !ok) return ok;
    if (auto ok = enter_fitted(change, job, queue, Entry::submitted); !ok) return ok;
    if (!queue.route()) return {};
    const Routing routed = route_job(change, job, queue);
    if (routed.outcome == Routing::Outcome::rejected) return tl::unexpected(routed.error);
    return {};
}

// After the commit, logs that the job was queued, and writes its accounting record Q. The commit also links
// the job's dependencies, which may change the job or even delete it. If it is deleted, the record has the
// attributes with which it was queued.
void log_queueing(Change& change, const Job& job, std::string by) {
    std::optional<AccountedJob> as_asked;
    if (job.attributes.has("depend")) as_asked = accounted_at_queueing(job, change.server().state);
    std::string text =
        fmt::format("Job Queued at request of {}, owner = {}, job name = {}, queue = {}", by,
                    job.attributes.text("Job_Owner"), job.attributes.text("Job_Name"), job.queue_name.text());
    change.then([&server = change.server(), id = job.id, handle = job.handle, text = std::move(text),
                 as_asked = std::move(as_asked)] {
        server.parts.log.job(id, text);
        const Job* queued = server.state.job(handle);
        server.parts.accounting.queued(queued == nullptr || queued->history()
                                           ? *as_asked
                                           : accounted_at_queueing(*queued, server.state));
    });
}

// For a job that another server hands in, repeats the checks of receive_job(), because their results may have
// changed.
Result<void> may_arrive(Context& context, const Submission& submission, const Queue& queue) {
    auto& arriving = context.server.arriving;
    const auto latest = arriving.find(values::lowered(submission.job.id));
    if (latest == arriving.end() || latest->second != submission.arrival)
        return fail(PBSE_IVALREQ, "Invalid request: the job has been handed in once more since");
    arriving.erase(latest);
    if (auto ok = is_new(context.server, submission.job.id, submission.hops); !ok) return ok;
    return may_hand_in(context.server, context.who, context.session.address, queue);
}

}  // namespace

// Returns whether the request may share a commit. A job that changes nothing but itself may. A job from
// another server, or one that depends on other jobs, changes more.
bool may_share_commit(const ifl::Request& request, const Session& session) {
    using Kind = ifl::RequestType;
    if (request.type == Kind::queue_job) {
        const auto& body = std::get<ifl::QueueJob>(request.body);
        return body.job.empty() && std::ranges::none_of(body.attributes, [](const ifl::Attribute& attribute) {
                   return same_name(attribute.name, "depend");
               });
    }
    if (request.type != Kind::job_script && request.type != Kind::ready_to_commit &&
        request.type != Kind::commit)
        return false;
    const auto& submission = session.submission;
    return !submission || (submission->arrival == 0 && !submission->job.attributes.has("depend"));
}

ifl::Reply ready_to_commit(Context& context) {
    if (!context.session.submission) return ifl::Reply::error(PBSE_IVALREQ);
    ifl::Reply reply;
    reply.body = ifl::ReadyToCommitReply{context.session.submission->job.id};
    return reply;
}

ifl::Reply commit_job(Context& context) {
    if (!context.session.submission) return ifl::Reply::error(PBSE_IVALREQ);
    Submission submission = std::move(*context.session.submission);
    context.session.submission.reset();
    Server& server = context.server;
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    const Queue* queue = context.state().queue(submission.job.queue);
    if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);

    Change change(server, context.now);
    Job& job = submission.job;
    const bool arrives = submission.arrival != 0;
    if (arrives)
        if (auto ok = may_arrive(context, submission, *queue); !ok) return refuse(ok.error());
    if (submission.script.empty()) submission.script = script_of_executable(job);
    // A job that was moved away and comes back replaces its record in the history.
    const Job* before = arrives ? server.state.job(job.id) : nullptr;
    if (before != nullptr) job.sequence = before->sequence;
    job.handle = before != nullptr ? before->handle : server.state.new_handle();
    if (auto ok = enter(change, submission, *queue); !ok) return refuse(ok.error());
    const std::string id = job.id;
    if (arrives)
        change.received(values::lowered(id), submission.hops);
    else
        change.next_sequence(server.state.next_sequence);
    Job& added = change.add(std::move(job), std::move(submission.script));
    log_queueing(change, added, requestor(context));
    if (auto ok = take_up_dependencies(change, added); !ok) return refuse(ok.error());
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    if (auto done = change.commit(); !done) return refuse(done.error());
    if (arrives && server.peers != nullptr) server.peers->arrived(id);
    ifl::Reply reply;
    reply.body = ifl::CommitReply{id};
    return reply;
}

}  // namespace pbs::host
