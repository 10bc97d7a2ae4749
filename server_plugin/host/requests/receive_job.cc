// QueueJob with a job's id: takes a job that another server hands in, and remembers it until its Commit
// (arrival.h).
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/peers/arrival.h"
#include "server_plugin/host/requests/common.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// The most jobs that are remembered whose hand-in isn't finished. If there are more, all are forgotten, and
// the other servers hand those jobs in again.
constexpr std::size_t kMostArriving = 10'000;

}  // namespace

ifl::Reply receive_job(Context& context) {
    const auto& body = std::get<ifl::QueueJob>(context.request.body);
    Server& server = context.server;
    if (!is_legal_foreign_id(body.job)) return ifl::Reply::error(PBSE_IVALREQ);
    Error error;
    const Queue* queue = queue_to_enter(context, body.destination, error);
    Submission submission;
    Job& job = submission.job;
    size_t refused = 0;
    const auto taken = take_attributes(job, body.attributes, context.state(), refused);
    submission.hops = job.attributes.integer("hop_count", 0);
    // Check first whether the job has been here. The other server relies on the answer: it must neither keep
    // a job that has arrived here nor lose one that hasn't.
    if (auto ok = is_new(server, body.job, submission.hops); !ok) return refuse(ok.error());
    if (queue == nullptr) return refuse(error);
    if (auto ok = may_hand_in(context.server, context.who, context.session.address, *queue); !ok)
        return refuse(ok.error());
    // From here on any earlier, unfinished hand-in of this job is void, on whichever connection it came.
    submission.arrival = ++server.last_arrival;
    if (server.arriving.size() >= kMostArriving) server.arriving.clear();
    server.arriving[values::lowered(body.job)] = submission.arrival;
    if (!taken)
        return refused < body.attributes.size()
                   ? refuse_attribute(taken.error(), body.attributes[refused], refused)
                   : refuse(taken.error());
    if (submission.hops >= kMostHops) return ifl::Reply::error(PBSE_HOPCOUNT);
    set_attribute(job, "hop_count", fmt::format("{}", submission.hops + 1));
    set_attribute(job, "foreign_id", body.job);
    job.id = body.job;
    const auto own = context.state().sequence_in(body.job);
    job.sequence = own ? *own : server.state.new_foreign();
    job.mtime = context.now;
    if (job.ctime <= 0 || job.ctime > context.now) job.ctime = context.now;
    // Try whether the queue takes the job, so that the other server learns of a refusal before it sends the
    // script. Commit makes the same checks again.
    Change trial(server, context.now);
    Job tried = job;
    if (auto ok = enter_queue(trial, tried, *queue, Entry::submitted); !ok) return refuse(ok.error());
    job.queue = queue->handle;
    job.queue_name = SharedText(queue->name);
    context.session.submission = std::move(submission);
    if (context.request.extend.starts_with(":C:")) return commit_job(context);
    ifl::Reply reply;
    reply.body = ifl::QueueReply{body.job};
    return reply;
}

}  // namespace pbs::host
