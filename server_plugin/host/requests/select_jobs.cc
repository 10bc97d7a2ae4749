// SelectJobs and SelStat: the jobs that fit all criteria, as ids or with their attributes. "x" in the extend
// string: finished jobs too.
#include <algorithm>

#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

struct Criterion {
    const AttributeDef* def = nullptr;
    Type type = Type::text;
    std::string resource;
    std::string value;
    ifl::Op op = ifl::Op::eq;
};

template <typename T>
bool compares(const T& have, const T& bound, ifl::Op op) {
    switch (op) {
        case ifl::Op::ne:
            return have != bound;
        case ifl::Op::ge:
            return have >= bound;
        case ifl::Op::gt:
            return have > bound;
        case ifl::Op::le:
            return have <= bound;
        case ifl::Op::lt:
            return have < bound;
        default:
            return have == bound;
    }
}

// A state criterion lists letters: "QH" is either.
bool state_fits(const Job& job, const Criterion& criterion) {
    const bool among = criterion.value.find(job.state) != std::string::npos;
    return criterion.op == ifl::Op::ne ? !among : among;
}

bool owner_fits(const Job& job, const Criterion& criterion) {
    const bool fits =
        acl_allows(split_list(criterion.value), job.attributes.text("Job_Owner"), AclKind::user);
    return criterion.op == ifl::Op::ne ? !fits : fits;
}

// The value as status shows it; an unset attribute fits nothing but "not equal".
bool fits(const Job& job, const Criterion& criterion, const Context& context) {
    if (criterion.def->name == "job_state") return state_fits(job, criterion);
    if (criterion.def->name == "User_List" || criterion.def->name == "Job_Owner")
        return owner_fits(job, criterion);
    ifl::Attributes wanted(1);
    wanted.front().name = criterion.def->name;
    const View view{wanted, read_only};
    for (const ifl::Attribute& have : describe(job, context.state(), context.now, view)) {
        if (have.resource != criterion.resource) continue;
        if (is_amount(criterion.type))
            return compares(amount_of(criterion.type, have.value), amount_of(criterion.type, criterion.value),
                            criterion.op);
        return compares(have.value, criterion.value, criterion.op);
    }
    return criterion.op == ifl::Op::ne;
}

Result<Criterion> criterion_of(const ifl::Attribute& attribute, const State& state) {
    Criterion criterion;
    criterion.def = job_table().find(attribute.name);
    if (criterion.def == nullptr) return fail(PBSE_NOATTR);
    criterion.type = criterion.def->type;
    criterion.op = attribute.op;
    if (criterion.type == Type::resources) {
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
    const Queue* queue = nullptr;  // nullptr: all
    bool history = false;
};

// On an error `index` is the criterion's.
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

bool selected(const Job& job, const Selection& selection, const Context& context) {
    if (job.history() && !selection.history) return false;
    if (selection.queue != nullptr && job.queue != selection.queue->handle) return false;
    return may_see(context, job) &&
           std::all_of(selection.criteria.begin(), selection.criteria.end(),
                       [&](const Criterion& criterion) { return fits(job, criterion, context); });
}

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
    ifl::Reply reply;
    if (context.request.type == ifl::RequestType::select_jobs) {
        ifl::SelectReply out;
        for (const auto& [handle, job] : context.state().jobs())
            if (selected(job, *selection, context)) out.jobs.push_back(job.id);
        reply.body = std::move(out);
        return reply;
    }
    const View view{body.wanted, read_rights(context.who)};
    ifl::StatusReply out;
    for (const auto& [handle, job] : context.state().jobs())
        if (selected(job, *selection, context))
            out.objects.push_back({PBS_OBJ_JOB, job.id, describe(job, context.state(), context.now, view)});
    reply.body = std::move(out);
    return reply;
}

}  // namespace pbs::host
