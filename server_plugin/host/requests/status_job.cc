// StatusJob: one job, several ("12,13"), those of a queue, or all. With "x" in the extend string finished
// jobs too.
#include <algorithm>
#include <set>
#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

class JobStatus {
  public:
    JobStatus(Context& context, const ifl::Status& body)
        : context_(context),
          view_{body.wanted, read_rights(context.who)},
          history_(context.request.extend.find('x') != std::string::npos) {}

    void add_if_visible(const Job& job) {
        if ((job.history() && !history_) || !may_see(context_, job)) return;
        add(job);
    }

    // One that was asked for by its id.
    Result<void> add_named(std::string_view id) {
        const Job* job = context_.state().job(id);
        if (job == nullptr) return fail(PBSE_UNKJOBID);
        if (job->history() && !history_) return fail(PBSE_HISTJOBID);
        if (!may_see(context_, *job)) return fail(PBSE_PERM);
        add(*job);
        return {};
    }

    ifl::Reply reply() {
        ifl::Reply reply;
        reply.body = std::move(status_);
        return reply;
    }

  private:
    void add(const Job& job) {
        status_.objects.push_back(
            {PBS_OBJ_JOB, job.id, describe(job, context_.state(), context_.now, view_)});
    }

    Context& context_;
    View view_;
    bool history_;
    ifl::StatusReply status_;
};

// Something is shown: no error. Nothing: the last one.
ifl::Reply named_jobs(JobStatus& status, std::string_view ids) {
    Result<void> last;
    bool any = false;
    std::set<std::string> seen;
    for (const std::string& id : split_list(ids)) {
        if (!seen.insert(id).second) continue;
        auto added = status.add_named(id);
        any = any || added.has_value();
        if (!added) last = added;
    }
    return any ? status.reply() : refuse(last.error());
}

}  // namespace

ifl::Reply status_job(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_JOB, body.wanted)) return *bad;
    const bool history = context.request.extend.find('x') != std::string::npos;
    if (history && !context.state().server.boolean("job_history_enable", false))
        return ifl::Reply::error(PBSE_JOBHISTNOTSET);
    JobStatus status(context, body);
    const std::string_view name = body.object;
    if (!name.empty() && name.front() >= '0' && name.front() <= '9') return named_jobs(status, name);
    if (name.empty() || name.front() == '@') {
        for (const auto& [handle, job] : context.state().jobs()) status.add_if_visible(job);
        return status.reply();
    }
    const Queue* queue = context.state().queue(name);
    if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
    for (uint64_t handle : context.state().queue_jobs(queue->handle))
        status.add_if_visible(*context.state().job(handle));
    return status.reply();
}

}  // namespace pbs::host
