// ModifyJob (qalter): changes attributes of a job. While a job runs, only walltime and cput of its resources
// may change, and users may only lower them. Managers, such as a program that schedules, may also set the
// estimated start of a job that waits. The estimate of any other job is ignored, and the rest of the request
// is carried out, such as a comment: the job may have started since the program looked.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_attributes.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/launch.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/holds.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/number.h"

namespace pbs::host {
namespace {

bool is_time_limit(const ifl::Attribute& attribute) {
    return same_name(attribute.resource, "walltime") || same_name(attribute.resource, "cput");
}

// Checks a change of a running job. The job's shepherd has to be able to apply it.
Result<void> may_alter_running(const AttributeDef& def, const ifl::Attribute& attribute) {
    if ((def.flags & alter_running) == 0 || (def.type == Type::resources && !is_time_limit(attribute)) ||
        def.name == "Output_Path" || def.name == "Error_Path")
        return fail(PBSE_MODATRRUN);
    return {};
}

// Checks a new time limit of a running job. An ordinary user may neither raise nor remove a limit.
Result<void> may_change_limit(const Identity& who, const std::optional<std::chrono::seconds>& before,
                              const std::optional<std::chrono::seconds>& after) {
    if (who.operator_() || !before || (after && *after <= *before)) return {};
    return fail(PBSE_PERM);
}

// The attributes of root's jobs that operators other than root may change: the times and amounts of a job,
// but neither its work nor its output.
constexpr std::array kOfRootToo = {"comment", "Priority", "Hold_Types", "Resource_List", "Execution_Time"};

Result<void> may_alter_roots(const Context& context, const Job& job, const ifl::Attribute& attribute) {
    if (is_administrator(context)) return {};
    int error = 0;
    const std::string euser(job.attributes.text("euser"));
    const auto user = find_user(euser, &error);
    if (error != 0) return fail(PBSE_SYSTEM, not_looked_up("user", euser, error));
    if (!user || user->uid != 0) return {};
    for (const char* name : kOfRootToo)
        if (same_name(attribute.name, name)) return {};
    return fail(PBSE_PERM,
                fmt::format("{} of a job that runs as root can only be altered by root and by the user "
                            "who runs the server, at its host",
                            attribute.name));
}

Result<void> alter(Context& context, Job& job, const ifl::Attribute& attribute, bool running) {
    if (auto ok = may_alter_roots(context, job, attribute); !ok) return ok;
    const AttributeDef* def = job_table().find(attribute.name);
    if (same_name(attribute.name, "max_run_subjobs") && !job.is_array()) return fail(PBSE_NOTARRAY_ATTR, {});
    if (running && def != nullptr)
        if (auto ok = may_alter_running(*def, attribute); !ok) return ok;
    if (def != nullptr && def->type == Type::hold)
        if (auto ok = may_change_holds(context.who, attribute.value); !ok) return ok;
    const bool limit = running && def != nullptr && def->type == Type::resources;
    const auto before = limit ? time_limit(job, attribute.resource) : std::nullopt;
    if (auto set = set_job_attribute(job, attribute, write_rights(context.who), context.state()); !set)
        return set;
    if (same_name(attribute.name, "eligible_time")) count_from(job, context.now);
    return limit ? may_change_limit(context.who, before, time_limit(job, attribute.resource))
                 : Result<void>();
}

// Sends the shepherd the new limits when the change is stored. If the server stops in between, its next start
// sends them.
void tell_limits(Change& change, const Job& job) {
    change.then([&server = change.server(), handle = job.handle] {
        if (const Job* stored = server.state.job(handle); stored != nullptr && stored->running())
            set_limits(server, *stored);
    });
}

bool changes(const ifl::Attributes& attributes, std::string_view name) {
    for (const ifl::Attribute& attribute : attributes)
        if (same_name(attribute.name, name)) return true;
    return false;
}

// Sets the estimate's start or place from an attribute of the request. An empty value removes it.
Result<void> take_estimate(const Context& context, const ifl::Attribute& attribute, Estimate& estimate) {
    if (!context.who.manager()) return fail(PBSE_ATTRRO);
    if (same_name(attribute.resource, "exec_vnode")) {
        if (auto places = parse_exec_vnode(attribute.value, context.state());
            !places && !attribute.value.empty())
            return tl::unexpected(places.error());
        estimate.exec_vnode = attribute.value;
        return {};
    }
    if (!same_name(attribute.resource, "start_time"))
        return fail(PBSE_NOSUP,
                    fmt::format("estimated{}{}: expected estimated.start_time or estimated.exec_vnode",
                                attribute.resource.empty() ? "" : ".", attribute.resource));
    const auto start = attribute.value.empty() ? 0 : values::number<int64_t>(attribute.value);
    if (!start || *start < 0)
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal estimated.start_time \"{}\": expected seconds since the Epoch",
                                attribute.value));
    estimate.start = *start;
    return {};
}

// Checks that the job still fits its queue. A job that an operator or manager changes may exceed the limits,
// as in PBS.
Result<void> check_resources(Context& context, Change& change, Job& job) {
    const Queue* queue = context.state().queue(job.queue);
    if (queue == nullptr) return fail(PBSE_UNKQUE);
    if (auto ok = check_array_request(job); !ok) return ok;
    if (auto ok = complete_resources(job, *queue, context.state()); !ok) return ok;
    if (context.who.operator_()) return {};
    if (auto ok = within_limits(job, *queue, context.state()); !ok) return ok;
    return within_queued_amounts(job, *queue, change.counted());
}

// Completes the change: checks the job's user and resources, and updates its state, limits and dependencies.
Result<void> complete(Context& context, Change& change, Job& job, const std::string& depend_before) {
    const auto& attributes = std::get<ifl::Manage>(context.request.body).attributes;
    const bool running = job.running();
    if (!running) {
        if (auto ok = set_execution_user(job, context.server); !ok) return ok;
        if (changes(attributes, "Resource_List"))
            if (auto ok = check_resources(context, change, job); !ok) return ok;
        advance(job, JobEvent::settled, context.state(), context.now);
        change.want_cycle(PBS_SCH_SCHEDULE_NEW);
        take_up(change, job);
    }
    if (running && changes(attributes, "Resource_List")) tell_limits(change, job);
    job.mtime = context.now;
    // Alter dependencies last, because that may delete the job.
    if (!running && changes(attributes, "depend")) return alter_dependencies(change, job, depend_before);
    return {};
}

}  // namespace

ifl::Reply modify_job(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    auto current = own_job(context, body.object);
    if (!current) return refuse(current.error());
    if ((*current)->state == job_state::kExiting) return ifl::Reply::error(PBSE_BADSTATE);
    if (body.attributes.empty()) return ifl::Reply::ok();

    Change change(context.server, context.now);
    const Estimate* before = context.state().estimate((*current)->handle);
    Estimate estimate = before == nullptr ? Estimate{} : *before;
    bool estimates = false;
    const std::string depend_before((*current)->attributes.text("depend"));
    Job* job = nullptr;  // the change's copy, made when an attribute other than the estimate changes
    for (size_t i = 0; i < body.attributes.size(); ++i) {
        const ifl::Attribute& attribute = body.attributes[i];
        if (same_name(attribute.name, "estimated")) {
            if (auto taken = take_estimate(context, attribute, estimate); !taken)
                return refuse_attribute(taken.error(), attribute, i);
            estimates = (*current)->expects_start();
            continue;
        }
        if (job == nullptr) job = &change.job(**current);
        if (auto set = alter(context, *job, attribute, (*current)->running()); !set)
            return refuse_attribute(set.error(), attribute, i);
    }
    if (job == nullptr && !estimates) return ifl::Reply::ok();
    std::string names;
    for (const ifl::Attribute& attribute : body.attributes)
        names += " " + attribute.name + (attribute.resource.empty() ? "" : "." + attribute.resource) + "=" +
                 attribute.value;
    if (estimates && before == nullptr && estimate.start == 0 && !estimate.exec_vnode.empty())
        return ifl::Reply::error(PBSE_BADATVAL, "estimated.exec_vnode: the job has no estimated.start_time");
    if (estimates)
        change.then([&state = context.server.state, handle = (*current)->handle, estimate] {
            state.set_estimate(handle, estimate);
        });
    log_job(change, **current, fmt::format("Job Modified at request of {}:{}", requestor(context), names));
    if (job == nullptr) {
        change.need_not_last();
    } else if (auto ok = complete(context, change, *job, depend_before); !ok) {
        return refuse(ok.error());
    }
    return reply_of(change.commit());
}

}  // namespace pbs::host
