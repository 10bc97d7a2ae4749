// SelectJobs and SelStat: show the jobs that satisfy all criteria, as ids or with their attributes. With "x"
// in the extend string, finished jobs are included. With "t" or "T", the subjobs of arrays are shown in place
// of the arrays, and are selected by their own states.
#include <algorithm>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/host/requests/job_cursor.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/comparison.h"
#include "values/text.h"

namespace pbs::host {
namespace {

using values::Comparison;

struct Criterion {
    const AttributeDef* def = nullptr;
    Type type = Type::text;
    std::string resource;
    std::string value;
    Comparison how = Comparison::equal;
};

// Converts an operation of a request to a comparison. An operation that isn't a comparison counts as "equal".
Comparison comparison_of(ifl::Op op) {
    if (op < ifl::Op::eq || op > ifl::Op::lt) return Comparison::equal;
    return static_cast<Comparison>(static_cast<int>(op) - static_cast<int>(ifl::Op::eq));
}

// Returns whether a state letter satisfies a criterion on job_state. The criterion's value lists letters:
// "QH" means Q or H.
bool letter_fits(char letter, const Criterion& criterion) {
    const bool among = criterion.value.find(letter) != std::string::npos;
    return criterion.how == Comparison::unequal ? !among : among;
}
bool state_fits(const Job& job, const Criterion& criterion) {
    return letter_fits(job.state, criterion);
}
bool is_state(const Criterion& criterion) {
    return criterion.def->name == "job_state";
}

bool owner_fits(const Job& job, const Criterion& criterion) {
    const bool fits =
        acl_allows(split_list(criterion.value), job.attributes.text("Job_Owner"), AclKind::user);
    return criterion.how == Comparison::unequal ? !fits : fits;
}

// Returns the function that checks a criterion directly on a job; nullptr: the criterion is checked on the
// attribute as a status reply shows it.
using Fits = bool (*)(const Job&, const Criterion&);
Fits of_job(const Criterion& criterion) {
    const std::string_view name = criterion.def->name;
    if (name == "job_state") return state_fits;
    return name == "User_List" || name == "Job_Owner" ? owner_fits : nullptr;
}

// Returns whether an attribute, as a status reply shows it, satisfies the criterion. An unset attribute
// satisfies only "not equal".
bool fits(const ifl::Attributes& shown, const Criterion& criterion) {
    for (const ifl::Attribute& have : shown) {
        if (have.name != criterion.def->name || have.resource != criterion.resource) continue;
        if (is_amount(criterion.type))
            return values::holds(amount_of(criterion.type, have.value), criterion.how,
                                 amount_of(criterion.type, criterion.value));
        return values::holds(have.value, criterion.how, criterion.value);
    }
    return criterion.how == Comparison::unequal;
}

Result<Criterion> criterion_of(const ifl::Attribute& attribute, const State& state) {
    Criterion criterion;
    criterion.def = job_table().find(attribute.name);
    if (criterion.def == nullptr) return fail(PBSE_NOATTR);
    criterion.type = criterion.def->type;
    criterion.how = comparison_of(attribute.op);
    if (criterion.def->name == "estimated") {
        criterion.resource = values::lowered(attribute.resource);
        criterion.type = criterion.resource == "start_time" ? Type::integer : Type::text;
    } else if (criterion.type == Type::resources) {
        const Resource* resource = state.resources.find(attribute.resource);
        if (resource == nullptr) return fail(PBSE_UNKRESC);
        criterion.type = resource->type;
        criterion.resource = resource->name;
    }
    auto value = canonical(criterion.type, attribute.value);
    if (!value) return tl::unexpected(value.error());
    criterion.value = std::move(*value);
    return criterion;
}

struct Selection {
    std::vector<Criterion> criteria;
    const Queue* queue = nullptr;  // nullptr: all queues
    bool history = false;
};

// Reads the criteria of a request. After an error, `index` is the index of the wrong criterion.
Result<Selection> selection_of(const Context& context, const ifl::Attributes& criteria, size_t& index) {
    Selection selection;
    selection.history = context.request.extend.find('x') != std::string::npos;
    for (index = 0; index < criteria.size(); ++index) {
        const ifl::Attribute& attribute = criteria[index];
        if (same_name(attribute.name, "destination") || same_name(attribute.name, "queue")) {
            const std::string_view name =
                std::string_view(attribute.value).substr(0, attribute.value.find('@'));
            if (name.empty()) continue;
            selection.queue = context.state().queue(name);
            if (selection.queue == nullptr) return fail(PBSE_UNKQUE);
            continue;
        }
        auto criterion = criterion_of(attribute, context.state());
        if (!criterion) return tl::unexpected(criterion.error());
        selection.criteria.push_back(std::move(*criterion));
    }
    return selection;
}

class SelectJobs : public Steps {
  public:
    SelectJobs(const Context& context, Selection selection)
        : cursor_(context.state(),
                  selection.queue == nullptr ? std::nullopt : std::optional(selection.queue->handle)),
          criteria_(std::move(selection.criteria)),
          history_(selection.history),
          subjobs_(context.request.extend.find_first_of("tT") != std::string::npos),
          compared_(shown_criteria(), kReadOnly) {}

    Remaining step(Context& context, ifl::StatusParts& out) override {
        if (next_subjob(context, out)) return Remaining::more;
        const Job* job = cursor_.next(context.state());
        if (job == nullptr) return Remaining::nothing;
        if (job->is_subjob() || !selected(*job, context)) return Remaining::more;
        if (subjobs_ && job->is_array()) {
            array_ = job->sequence;
            next_ = job->subjobs->submitted.first;
        } else {
            add(*job, context, out);
        }
        return Remaining::more;
    }

  protected:
    virtual void add(const Job& job, const Context& context, ifl::StatusParts& out) = 0;
    virtual void add_subjob(const Job& array, int64_t index, const Context& context,
                            ifl::StatusParts& out) = 0;

  private:
    ifl::Attributes shown_criteria() const {
        ifl::Attributes wanted;
        for (const Criterion& criterion : criteria_)
            if (of_job(criterion) == nullptr) wanted.emplace_back().name = criterion.def->name;
        return wanted;
    }
    bool selected(const Job& job, const Context& context) const {
        if ((job.history() && !history_) || !may_see(context, job)) return false;
        std::optional<ifl::Attributes> shown;
        for (const Criterion& criterion : criteria_) {
            // Skip a criterion on the state of an array: it is checked for each subjob.
            if (subjobs_ && job.is_array() && is_state(criterion)) continue;
            if (const Fits own = of_job(criterion)) {
                if (!own(job, criterion)) return false;
                continue;
            }
            if (!shown) shown = describe(job, context.state(), context.now, compared_);
            if (!fits(*shown, criterion)) return false;
        }
        return true;
    }
    // Shows the next subjob of a selected array. Returns false if none is left.
    bool next_subjob(const Context& context, ifl::StatusParts& out) {
        const Job* array = array_ == 0 ? nullptr : context.state().job_of_sequence(array_);
        if (array == nullptr) return false;
        for (; next_ <= array->subjobs->submitted.last; next_ += array->subjobs->submitted.step) {
            const char letter = subjob_state(*array, next_, context.state());
            if (!std::ranges::all_of(criteria_, [&](const Criterion& criterion) {
                    return !is_state(criterion) || letter_fits(letter, criterion);
                }))
                continue;
            add_subjob(*array, next_, context, out);
            next_ += array->subjobs->submitted.step;
            return true;
        }
        array_ = 0;
        return false;
    }

    JobCursor cursor_;
    std::vector<Criterion> criteria_;
    bool history_;
    bool subjobs_;
    View compared_;
    uint64_t array_ = 0;  // the array whose subjobs are shown next
    int64_t next_ = 0;
};

class SelectIds final : public SelectJobs {
  public:
    SelectIds(const Context& context, Selection selection)
        : SelectJobs(context, std::move(selection)),
          most_(context.state().jobs().size() * sizeof(std::string)) {}
    ifl::Reply reply() override {
        ifl::Reply reply;
        reply.body = ifl::SelectReply{std::move(ids_)};
        return reply;
    }
    // Returns the size of the largest possible answer in bytes. This much memory is reserved, so that an
    // answer that has begun can be completed.
    std::size_t size() const override { return most_; }

  private:
    void add(const Job& job, const Context&, ifl::StatusParts&) override { ids_.push_back(job.id); }
    void add_subjob(const Job& array, int64_t index, const Context&, ifl::StatusParts&) override {
        ids_.push_back(subjob_id(array, index));
    }
    std::vector<std::string> ids_;
    std::size_t most_;
};

class SelectStatus final : public SelectJobs {
  public:
    SelectStatus(const Context& context, Selection selection)
        : SelectJobs(context, std::move(selection)),
          view_(std::get<ifl::Select>(context.request.body).wanted, read_rights(context.who)) {}

  private:
    void add(const Job& job, const Context& context, ifl::StatusParts& out) override {
        out.add(PBS_OBJ_JOB, job.id, describe(job, context.state(), context.now, view_));
    }
    void add_subjob(const Job& array, int64_t index, const Context& context, ifl::StatusParts& out) override {
        const State& state = context.state();
        const Job* job = state.subjob(array.sequence, index);
        out.add(PBS_OBJ_JOB, subjob_id(array, index),
                job != nullptr ? describe(*job, state, context.now, view_)
                               : describe_subjob(array, index, state, context.now, view_));
    }
    View view_;
};

}  // namespace

ifl::Reply select_jobs(Context& context) {
    const auto& body = std::get<ifl::Select>(context.request.body);
    if (context.request.extend.find('x') != std::string::npos &&
        !context.state().server.boolean("job_history_enable", false))
        return ifl::Reply::error(PBSE_JOBHISTNOTSET);
    size_t index = 0;
    auto selection = selection_of(context, body.criteria, index);
    if (!selection)
        return refuse_attribute(selection.error(), body.criteria[std::min(index, body.criteria.size() - 1)],
                                index);
    if (auto bad = unknown_attribute(context, PBS_OBJ_JOB, body.wanted)) return *bad;
    if (context.request.type == ifl::RequestType::select_jobs) {
        context.rest = std::make_unique<SelectIds>(context, std::move(*selection));
    } else {
        context.rest = std::make_unique<SelectStatus>(context, std::move(*selection));
    }
    return {};
}

}  // namespace pbs::host
