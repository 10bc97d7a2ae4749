// StatusJob: one job, several ("12,13"), those of a queue, or all. With "x" in the extend string finished
// jobs too.
#include <algorithm>
#include <set>
#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/host/requests/job_cursor.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

class JobStatus : public Steps {
  public:
    explicit JobStatus(const Context& context)
        : view_{std::get<ifl::Status>(context.request.body).wanted, read_rights(context.who)},
          history_(context.request.extend.find('x') != std::string::npos) {}

  protected:
    bool shows(const Job& job) const { return history_ || !job.history(); }
    void add(const Context& context, const Job& job, ifl::StatusParts& out) const {
        out.add(PBS_OBJ_JOB, job.id, describe(job, context.state(), context.now, view_));
    }

  private:
    View view_;
    bool history_;
};

class Listed : public JobStatus {
  public:
    Listed(const Context& context, const JobCursor& cursor) : JobStatus(context), cursor_(cursor) {}

    Left step(Context& context, ifl::StatusParts& out) override {
        const Job* job = cursor_.next(context.state());
        if (job == nullptr) return Left::nothing;
        if (shows(*job) && may_see(context, *job)) add(context, *job, out);
        return Left::more;
    }

  private:
    JobCursor cursor_;
};

// Jobs that were asked for by their ids. Something is shown: no error. Nothing: the last one.
class Named : public JobStatus {
  public:
    explicit Named(const Context& context) : JobStatus(context) {
        std::set<std::string> seen;
        for (std::string& id : split_list(std::get<ifl::Status>(context.request.body).object))
            if (seen.insert(id).second) ids_.push_back(std::move(id));
    }

    Left step(Context& context, ifl::StatusParts& out) override {
        if (at_ == ids_.size()) return Left::nothing;
        const Job* job = context.state().job(ids_[at_++]);
        if (job == nullptr) {
            code_ = PBSE_UNKJOBID;
        } else if (!shows(*job)) {
            code_ = PBSE_HISTJOBID;
        } else if (!may_see(context, *job)) {
            code_ = PBSE_PERM;
        } else {
            add(context, *job, out);
        }
        return Left::more;
    }
    ifl::Reply reply() override { return ifl::Reply::error(code_); }

  private:
    std::vector<std::string> ids_;
    std::size_t at_ = 0;
    int code_ = PBSE_UNKJOBID;
};

}  // namespace

ifl::Reply status_job(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_JOB, body.wanted)) return *bad;
    const bool history = context.request.extend.find('x') != std::string::npos;
    if (history && !context.state().server.boolean("job_history_enable", false))
        return ifl::Reply::error(PBSE_JOBHISTNOTSET);
    const std::string_view name = body.object;
    if (!name.empty() && name.front() >= '0' && name.front() <= '9') {
        context.rest = std::make_unique<Named>(context);
    } else if (name.empty() || name.front() == '@') {
        context.rest = std::make_unique<Listed>(context, JobCursor(context.state()));
    } else {
        const Queue* queue = context.state().queue(name);
        if (queue == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
        context.rest = std::make_unique<Listed>(context, JobCursor(context.state(), queue->handle));
    }
    return {};
}

}  // namespace pbs::host
