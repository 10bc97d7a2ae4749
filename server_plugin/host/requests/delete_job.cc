// DeleteJob and DeleteJobList. The extend string may hold "force" (forget the job even if its end can't be
// seen), "deletehist" (take it out of the history too) and "nomail".
#include <fmt/format.h>

#include <set>

#include "ifl/pbs_error.h"
#include "server_plugin/host/accounting.h"
#include "server_plugin/host/executor.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

struct How {
    bool force;
    bool history;
};

How how_of(const Context& context) {
    const std::string_view extend = context.request.extend;
    return {extend.find("force") != std::string_view::npos,
            extend.find("deletehist") != std::string_view::npos};
}

// The job is marked first, so that its end is a deletion even if the server dies in between.
Result<void> delete_running(Context& context, const Job& current, const How& how) {
    if (current.state == job_state::exiting && !how.force) return fail(PBSE_BADSTATE);
    Change change(context.server, context.now);
    Job& job = change.job(current);
    // It is on its way out until the last of its processes has gone.
    job.state = job_state::exiting;
    job.substate = substate::exiting;
    job.deleted = true;
    job.at_end = Job::AtEnd::finish;
    job.mtime = context.now;
    const std::string by = requestor(context);
    if (!current.deleted) change.then([&] { context.server.parts.accounting.deleted(current.id, by); });
    log_job(change, current, fmt::format("Job to be deleted at request of {}", by));
    if (auto done = change.commit(); !done) return done;
    if (how.force) {
        (void)context.server.parts.executor.signal(run_id(current), 9);
        return {};
    }
    return terminate_job(context.server, current);
}

Result<void> delete_one(Context& context, std::string_view id, const How& how) {
    const Job* job = context.state().job(id);
    if (job == nullptr) return fail(PBSE_UNKJOBID);
    if (!is_owner(context, *job) && !context.who.operator_()) return fail(PBSE_PERM);
    if (job->history() && !how.history) return fail(PBSE_HISTJOBID);
    if (job->running()) return delete_running(context, *job, how);
    Change change(context.server, context.now);
    if (job->history()) {
        change.remove(*job);
    } else {
        delete_waiting_job(change, change.job(*job), requestor(context));
        if (how.history) change.remove(*job);
    }
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    return change.commit();
}

// A job a step.
class DeleteList final : public Steps {
  public:
    Left step(Context& context, ifl::StatusParts&) override {
        const auto& jobs = std::get<ifl::DeleteJobList>(context.request.body).jobs;
        if (at_ == jobs.size()) return Left::nothing;
        const std::string& id = jobs[at_++];
        if (seen_.insert(id).second)
            if (auto done = delete_one(context, id, how_of(context)); !done)
                failed_.failed.push_back({id, static_cast<uint32_t>(done.error().code)});
        return Left::more;
    }
    ifl::Reply reply() override {
        ifl::Reply reply;
        reply.body = std::move(failed_);
        return reply;
    }

  private:
    std::size_t at_ = 0;
    std::set<std::string_view> seen_;
    ifl::DeleteReply failed_;
};

}  // namespace

ifl::Reply delete_job(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    return reply_of(delete_one(context, body.object, how_of(context)));
}

ifl::Reply delete_job_list(Context& context) {
    context.rest = std::make_unique<DeleteList>();
    return {};
}

}  // namespace pbs::host
