#include "server_plugin/host/requests/common.h"

#include <fmt/format.h>

#include <algorithm>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "values/text.h"

namespace pbs::host {

ifl::Reply refuse(const Error& error) {
    return ifl::Reply::error(error.code, error.message);
}

ifl::Reply refuse_attribute(const Error& error, const ifl::Attribute& attribute, size_t index) {
    std::string text = error.message;
    if (text.empty()) {
        text = fmt::format("{} {}", values::trim(ifl::error_text(error.code)), attribute.name);
        if (!attribute.resource.empty()) text += "." + attribute.resource;
    }
    ifl::Reply reply = ifl::Reply::error(error.code, text);
    reply.auxiliary = static_cast<int32_t>(index) + 1;
    return reply;
}

ifl::Reply reply_of(const Result<void>& result) {
    return result ? ifl::Reply::ok() : refuse(result.error());
}

Result<Target> target_of(const State& state, std::string_view id) {
    const auto name = state.job_name(id);
    if (!name) {
        const Job* foreign = state.foreign_job(id);
        return foreign == nullptr ? fail(PBSE_UNKJOBID) : Result<Target>(Target{foreign});
    }
    const bool of_array = name->kind != JobName::Kind::job;
    const Job* job = state.job_of_sequence(of_array ? array_number(name->number) : name->number);
    if (job == nullptr) return fail(PBSE_UNKJOBID);
    return Target{job, name->indices, name->kind == JobName::Kind::subjob};
}

bool is_owner(const Context& context, const Job& job) {
    if (context.who.user != job.owner()) return false;
    return context.state().server.boolean("flatuid", false) || same_name(context.who.host, job.owner_host());
}

bool may_see_all(const Context& context) {
    return context.state().server.boolean("query_other_jobs", false) || context.who.operator_();
}

bool may_see(const Context& context, const Job& job) {
    return may_see_all(context) || is_owner(context, job);
}

Result<Target> own_target(const Context& context, std::string_view id) {
    auto target = target_of(context.state(), id);
    if (!target) return target;
    if (target->job->history()) return fail(PBSE_HISTJOBID);
    if (!is_owner(context, *target->job) && !context.who.operator_()) return fail(PBSE_PERM);
    // The job may be at another server already. Until that is known, it must not change here.
    if (target->job->is_leaving())
        return fail(PBSE_BADSTATE, "Request invalid for state of job: it is on its way to another server");
    return target;
}

Result<const Job*> own_job(const Context& context, std::string_view id) {
    const auto target = own_target(context, id);
    if (!target) return tl::unexpected(target.error());
    if (target->subjobs()) return fail(PBSE_IVALREQ);
    return target->job;
}

std::vector<const Job*> running_of(const State& state, const Target& target) {
    std::vector<const Job*> jobs;
    if (!target.job->is_array()) return {target.job};
    for (const auto& [index, handle] : state.subjobs(target.job->sequence)) {
        const Job* job = state.job(handle);
        const bool named = target.indices.empty() ||
                           std::ranges::any_of(target.indices, [&, at = index](const IndexRange& range) {
                               return range.contains(at);
                           });
        if (named && job->running()) jobs.push_back(job);
    }
    return jobs;
}

const Queue* queue_to_enter(const Context& context, std::string_view asked, Error& error) {
    const State& state = context.state();
    const std::string_view name = asked.substr(0, asked.find('@'));
    if (!name.empty()) {
        error = {PBSE_UNKQUE, fmt::format("Unknown queue: {}", name)};
        return state.queue(name);
    }
    const std::string_view chosen = state.server.text("default_queue");
    if (chosen.empty()) {
        error = {PBSE_QUENODFLT, {}};
        return nullptr;
    }
    error = {PBSE_UNKQUE, fmt::format("Unknown queue: {} (the server's default_queue)", chosen)};
    return state.queue(chosen);
}

bool is_administrator(const Context& context) {
    const Identity& who = context.who;
    return (who.privilege & privilege_root) != 0 ||
           (who.user == context.server.options.starter && same_name(who.host, context.state().host_name));
}

Result<void> operators_only(const Context& context) {
    if (!context.who.operator_()) return fail(PBSE_PERM);
    return {};
}

uint32_t write_rights(const Identity& who) {
    uint32_t rights = write_user;
    if (who.operator_()) rights |= write_operator;
    if (who.manager()) rights |= write_manager;
    return rights;
}

uint32_t read_rights(const Identity& who) {
    uint32_t rights = read_user;
    if (who.operator_()) rights |= read_operator;
    if (who.manager()) rights |= read_manager;
    return rights;
}

std::string requestor(const Context& context) {
    return context.who.at_host();
}

}  // namespace pbs::host
