// StatusJob: shows one job, several ("12,13"), the jobs of a queue, or all. With "x" in the extend string,
// finished jobs are included. With "t", arrays are shown with those of their subjobs that aren't queued;
// clients make the queued subjobs from the array's array_indices_remaining.
#include <algorithm>
#include <set>
#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/host/requests/job_cursor.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr int kMostMarked = 1000;

// Adds array_indices_remaining to the requested attributes, because clients make an array's queued subjobs
// from it.
ifl::Attributes wanted_of_arrays(const Context& context) {
    ifl::Attributes wanted = std::get<ifl::Status>(context.request.body).wanted;
    if (!wanted.empty()) wanted.push_back({.name = "array_indices_remaining"});
    return wanted;
}

class JobStatus : public Steps {
  public:
    explicit JobStatus(const Context& context)
        : view_{std::get<ifl::Status>(context.request.body).wanted, read_rights(context.who)},
          view_of_arrays_{wanted_of_arrays(context), read_rights(context.who)},
          history_(context.request.extend.find('x') != std::string::npos),
          subjobs_(context.request.extend.find('t') != std::string::npos) {}

  protected:
    bool shows(const Job& job) const { return history_ || !job.history(); }
    // Shows a job. If it is an array with subjobs to show, these follow by add_subjob().
    void add(const Context& context, const Job& job, ifl::StatusParts& out) {
        const bool with_subjobs = job.is_array() && subjobs_;
        out.add(with_subjobs ? PBS_OBJ_ARRAY : PBS_OBJ_JOB, job.id,
                describe(job, context.state(), context.now, with_subjobs ? view_of_arrays_ : view_));
        if (!with_subjobs) return;
        array_ = job.sequence;
        next_ = job.subjobs->submitted.first;
        shown_ = 0;
    }
    // Shows the next subjob that isn't queued. Returns false if none is left.
    bool add_subjob(const Context& context, ifl::StatusParts& out) {
        const Job* array = array_ == 0 ? nullptr : context.state().job_of_sequence(array_);
        if (array == nullptr) return false;
        const IndexRange& all = array->subjobs->submitted;
        while (next_ <= all.last && array->subjobs->queued.contains(next_)) next_ += all.step;
        if (next_ > all.last) {
            array_ = 0;
            return false;
        }
        // Objects that are marked as subjobs are sent in one part of the reply with their array, so bound the
        // number of marked ones.
        add_subjob(context, *array, next_, ++shown_ <= kMostMarked ? PBS_OBJ_SUBJOB : PBS_OBJ_JOB, out);
        next_ += all.step;
        return true;
    }
    void add_subjob(const Context& context, const Job& array, int64_t index, uint32_t type,
                    ifl::StatusParts& out) const {
        const State& state = context.state();
        const Job* job = state.subjob(array.sequence, index);
        out.add(type, subjob_id(array, index),
                job != nullptr ? describe(*job, state, context.now, view_)
                               : describe_subjob(array, index, state, context.now, view_));
    }

  private:
    View view_;
    View view_of_arrays_;  // for arrays that are shown with their subjobs
    bool history_;
    bool subjobs_;
    uint64_t array_ = 0;  // the array whose subjobs are shown next
    int64_t next_ = 0;
    int shown_ = 0;
};

class Listed : public JobStatus {
  public:
    Listed(const Context& context, const JobCursor& cursor) : JobStatus(context), cursor_(cursor) {}

    Remaining step(Context& context, ifl::StatusParts& out) override {
        if (add_subjob(context, out)) return Remaining::more;
        const Job* job = cursor_.next(context.state());
        if (job == nullptr) return Remaining::nothing;
        if (!job->is_subjob() && shows(*job) && may_see(context, *job)) add(context, *job, out);
        return Remaining::more;
    }

  private:
    JobCursor cursor_;
};

// Shows the jobs that the request names by ids. If none can be shown, the reply is the last job's error.
class Named : public JobStatus {
  public:
    explicit Named(const Context& context) : JobStatus(context) {
        std::set<std::string> seen;
        for (std::string& id : split_list(std::get<ifl::Status>(context.request.body).object))
            if (seen.insert(id).second) ids_.push_back(std::move(id));
    }

    Remaining step(Context& context, ifl::StatusParts& out) override {
        if (add_subjob(context, out) || add_named(context, out)) return Remaining::more;
        if (at_ == ids_.size()) return Remaining::nothing;
        const auto found = target_of(context.state(), ids_[at_++]);
        if (!found) {
            code_ = found.error().code;
        } else if (!shows(*found->job)) {
            code_ = PBSE_HISTJOBID;
        } else if (!may_see(context, *found->job)) {
            code_ = PBSE_PERM;
        } else if (!found->subjobs()) {
            add(context, *found->job, out);
        } else if (std::ranges::all_of(found->indices, [&](const IndexRange& range) {
                       return found->job->subjobs->submitted.contains(range);
                   })) {
            named_ = found->job->sequence;
            ranges_ = found->indices;
            index_ = ranges_.front().first;
        } else {
            code_ = PBSE_UNKJOBID;
        }
        return Remaining::more;
    }
    ifl::Reply reply() override { return ifl::Reply::error(code_); }

  private:
    // Shows the next subjob that an id names. Returns false if none is left.
    bool add_named(const Context& context, ifl::StatusParts& out) {
        const Job* array = ranges_.empty() ? nullptr : context.state().job_of_sequence(named_);
        if (array == nullptr) return false;
        add_subjob(context, *array, index_, PBS_OBJ_JOB, out);
        index_ += ranges_.front().step;
        if (index_ <= ranges_.front().last) return true;
        ranges_.erase(ranges_.begin());
        if (!ranges_.empty()) index_ = ranges_.front().first;
        return true;
    }

    std::vector<std::string> ids_;
    std::size_t at_ = 0;
    int code_ = PBSE_UNKJOBID;
    // The subjobs of an array that a request has named and that are still to be shown.
    uint64_t named_ = 0;              // the array's number
    std::vector<IndexRange> ranges_;  // the remaining ranges of indices
    int64_t index_ = 0;               // the next index, in the first of these ranges
};

}  // namespace

ifl::Reply status_job(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    if (auto bad = unknown_attribute(context, PBS_OBJ_JOB, body.wanted)) return *bad;
    const bool history = context.request.extend.find('x') != std::string::npos;
    if (history && !context.state().server.boolean("job_history_enable", false))
        return ifl::Reply::error(PBSE_JOBHISTNOTSET);
    const std::string_view name = body.object;
    if (!name.empty() && values::is_digit(name.front())) {
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
