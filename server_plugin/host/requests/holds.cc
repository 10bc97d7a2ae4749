// HoldJob and ReleaseJob: add or remove user, operator and system holds. A running job isn't checkpointed:
// the hold takes effect only when the job is queued again.
#include "server_plugin/host/requests/holds.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

Result<void> may_change_holds(const Identity& who, std::string_view types) {
    if (types.find('o') != std::string_view::npos && !who.operator_()) return fail(PBSE_PERM);
    if (types.find_first_of("sp") != std::string_view::npos && !who.manager()) return fail(PBSE_PERM);
    return {};
}

Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op) {
    ifl::Attribute change;
    change.name = "Hold_Types";
    change.value = "u";
    change.op = op;
    for (const ifl::Attribute& attribute : attributes)
        if (same_name(attribute.name, "Hold_Types") && !attribute.value.empty())
            change.value = attribute.value;
    auto types = canonical(Type::hold, change.value);
    if (!types) return tl::unexpected(types.error());
    if (auto ok = may_change_holds(context.who, *types); !ok) return tl::unexpected(ok.error());
    change.value = *types;
    return change;
}

namespace {

// The differences between HoldJob and ReleaseJob.
struct HoldsRequest {
    ifl::Op op = ifl::Op::incr;
    bool of_exiting = false;        // also for jobs that are ending
    bool may_start = false;         // jobs may start afterwards, so request a cycle
    std::string_view done = "set";  // the verb in the log line
};

// Releases the array's subjobs that have run before and are held before they run again.
Result<void> release_subjobs(Change& change, const Job& array, const ifl::Attribute& hold) {
    static const AttributeDef& holds = *job_table().find("Hold_Types");
    const State& state = change.server().state;
    for (const auto& [index, handle] : state.subjobs(array.sequence)) {
        const Job& current = *state.job(handle);
        if (current.state != job_state::kHeld) continue;
        Job& job = change.job(current);
        if (auto set = apply_change(job.attributes, holds, hold, state.resources); !set) return set;
        advance(job, JobEvent::settled, state, change.now());
    }
    return {};
}

ifl::Reply change_holds(Context& context, const HoldsRequest& request) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    auto current = own_job(context, body.object);
    if (!current) return refuse(current.error());
    auto change_of_hold = hold_change(context, body.attributes, request.op);
    if (!change_of_hold) return refuse(change_of_hold.error());
    if ((*current)->state == job_state::kExiting && !request.of_exiting)
        return ifl::Reply::error(PBSE_BADSTATE);

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    static const AttributeDef& holds = *job_table().find("Hold_Types");
    if (auto set = apply_change(job.attributes, holds, *change_of_hold, context.state().resources); !set)
        return refuse(set.error());
    job.mtime = context.now;
    advance(job, JobEvent::settled, context.state(), context.now);
    if (job.state == job_state::kHeld && change_of_hold->op == ifl::Op::incr)
        set_held_comment(job, context.who.user, context.now);
    if (job.is_array() && request.op == ifl::Op::decr)
        if (auto done = release_subjobs(change, job, *change_of_hold); !done) return refuse(done.error());
    log_job(
        change, job,
        fmt::format("Holds {} {} at request of {}", change_of_hold->value, request.done, requestor(context)));
    if (request.may_start) change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return reply_of(change.commit());
}

}  // namespace

ifl::Reply hold_job(Context& context) {
    return change_holds(context, {.op = ifl::Op::incr, .done = "set"});
}

ifl::Reply release_job(Context& context) {
    return change_holds(context,
                        {.op = ifl::Op::decr, .of_exiting = true, .may_start = true, .done = "released"});
}

}  // namespace pbs::host
