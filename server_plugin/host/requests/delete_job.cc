// DeleteJob and DeleteJobList: delete one job, or several. The extend string may have "force" (remove the job
// even if its end can't be observed), "deletehist" (remove it from the history, too) and "nomail".
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

struct DeleteOptions {
    bool force;
    bool history;
};

DeleteOptions options_of(const Context& context) {
    const std::string_view extend = context.request.extend;
    return {extend.find("force") != std::string_view::npos,
            extend.find("deletehist") != std::string_view::npos};
}

// Marks the job as deleted before its processes are ended. So its end counts as a deletion even if the server
// dies in between.
void mark(Context& context, Change& change, const Job& current) {
    Job& job = change.job(current);
    advance(job, JobEvent::deleted, context.state(), context.now);
    const std::string by = requestor(context);
    set_end_comment(job, JobEvent::terminated, by);
    if (!current.deleted)
        change.then([&context, id = current.id, by] { context.server.parts.accounting.deleted(id, by); });
    log_job(change, current, fmt::format("Job to be deleted at request of {}", by));
}

Result<void> end(Context& context, const Job& job, const DeleteOptions& how) {
    if (!how.force) return terminate_job(context.server, job);
    (void)kill_job(context.server, job);
    return {};
}

Result<void> delete_running(Context& context, const Job& current, const DeleteOptions& how) {
    if (current.state == job_state::kExiting && !how.force) return fail(PBSE_BADSTATE);
    Change change(context.server, context.now);
    mark(context, change, current);
    if (auto done = change.commit(); !done) return done;
    return end(context, current, how);
}

// Deletes all or some subjobs of an array. Queued subjobs end at once, running ones are killed. If none runs,
// the array may end, too.
Result<void> delete_subjobs(Context& context, const Target& target, const DeleteOptions& how) {
    const Job& current = *target.job;
    const uint64_t sequence = current.sequence;
    auto running = running_of(context.state(), target);
    if (!how.force) std::erase_if(running, [](const Job* job) { return job->state == job_state::kExiting; });
    std::vector<uint64_t> handles;
    Change change(context.server, context.now);
    Job& array = change.job(current);
    if (!target.subjobs()) {
        note_deletion(change, array, requestor(context));
        if (array.stime != 0) set_began_comment(array);
        set_end_comment(array, JobEvent::terminated, requestor(context));
        advance(array, JobEvent::deleted, context.state(), context.now);
    } else if (target.single && running.empty()) {
        const std::string by = requestor(context);
        const std::string id = subjob_id(array, target.indices[0].first);
        change.then([&context, id, by] {
            context.server.parts.accounting.deleted(id, by);
            context.server.parts.log.job(id, fmt::format("Job to be deleted at request of {}", by));
        });
    }
    expire_queued(change, array, target.indices);
    for (const Job* job : running) {
        mark(context, change, *job);
        handles.push_back(job->handle);
    }
    follow_subjobs(change, sequence, {});
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    if (auto done = change.commit(); !done) return done;
    Result<void> ended;
    for (const uint64_t handle : handles)
        if (auto done = end(context, *context.state().job(handle), how); !done && ended) ended = done;
    return ended;
}

// Checks that PBS permits the deletion of this target, which is an array or subjobs of one.
Result<void> may_delete(const State& state, const Target& target, const DeleteOptions& how) {
    const Job& array = *target.job;
    const IndexRange& all = array.subjobs->submitted;
    if (target.subjobs() && array.history()) return fail(PBSE_NOHISTARRAYSUBJOB);
    if (!target.single) {
        for (const IndexRange& range : target.indices)
            if (range.first < all.first || range.first > all.last) return fail(PBSE_UNKJOBID);
        return {};
    }
    switch (subjob_state(array, target.indices[0].first, state)) {
        case '\0':
            return fail(PBSE_IVALREQ);
        case job_state::kExiting:
            return how.force ? Result<void>() : fail(PBSE_BADSTATE);
        case job_state::kExpired:
            return fail(PBSE_NOHISTARRAYSUBJOB);
        default:
            return {};
    }
}

Result<void> delete_one(Context& context, std::string_view id, const DeleteOptions& how) {
    const auto target = target_of(context.state(), id);
    if (!target) return tl::unexpected(target.error());
    const Job* job = target->job;
    if (job->history() && !how.history) return fail(PBSE_HISTJOBID);
    if (!is_owner(context, *job) && !context.who.operator_()) return fail(PBSE_PERM);
    // Another server may have the job. So only an operator may remove it here, by force.
    if (job->is_leaving() && !(how.force && context.who.operator_()))
        return fail(PBSE_BADSTATE, "Request invalid for state of job: it is on its way to another server");
    if (job->is_array()) {
        if (auto ok = may_delete(context.state(), *target, how); !ok) return ok;
        if (!job->history()) return delete_subjobs(context, *target, how);
    }
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

// Deletes one job in each step.
class DeleteList final : public Steps {
  public:
    Remaining step(Context& context, ifl::StatusParts&) override {
        const auto& jobs = std::get<ifl::DeleteJobList>(context.request.body).jobs;
        if (at_ == jobs.size()) return Remaining::nothing;
        const std::string& id = jobs[at_++];
        if (seen_.insert(id).second)
            if (auto done = delete_one(context, id, options_of(context)); !done) {
                // The reply has room for the error's code only, so log the message.
                if (done.error().code == PBSE_SYSTEM)
                    context.server.parts.log.error(id, "can not delete the job: " + done.error().message);
                failed_.failed.push_back({id, static_cast<uint32_t>(done.error().code)});
            }
        return Remaining::more;
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
    return reply_of(delete_one(context, body.object, options_of(context)));
}

ifl::Reply delete_job_list(Context& context) {
    context.rest = std::make_unique<DeleteList>();
    return {};
}

}  // namespace pbs::host
