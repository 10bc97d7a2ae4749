#include "server_plugin/host/requests/common.h"

#include <fmt/format.h>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/log.h"

namespace pbs::host {

ifl::Reply refuse(const Error& error) {
    return ifl::Reply::error(error.code, error.message);
}

ifl::Reply refuse_attribute(const Error& error, const ifl::Attribute& attribute, size_t index) {
    std::string text = error.message;
    if (text.empty()) {
        text = fmt::format("{} {}", trimmed(ifl::error_text(error.code)), attribute.name);
        if (!attribute.resource.empty()) text += "." + attribute.resource;
    }
    ifl::Reply reply = ifl::Reply::error(error.code, text);
    reply.auxiliary = static_cast<int32_t>(index) + 1;
    return reply;
}

ifl::Reply reply_of(const Result<void>& result) {
    return result ? ifl::Reply::ok() : refuse(result.error());
}

Result<const Job*> live_job(const Context& context, std::string_view id) {
    const Job* job = context.state().job(id);
    if (job == nullptr) return fail(PBSE_UNKJOBID);
    if (job->history()) return fail(PBSE_HISTJOBID);
    return job;
}

bool is_owner(const Context& context, const Job& job) {
    if (context.who.user != job.owner()) return false;
    return context.state().server.boolean("flatuid", false) || same_name(context.who.host, job.owner_host());
}

bool may_see(const Context& context, const Job& job) {
    return context.state().server.boolean("query_other_jobs", false) || context.who.operator_() ||
           is_owner(context, job);
}

Result<const Job*> own_job(const Context& context, std::string_view id) {
    auto job = live_job(context, id);
    if (!job) return job;
    if (!is_owner(context, **job) && !context.who.operator_()) return fail(PBSE_PERM);
    return job;
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

void log_job(Change& change, const Job& job, std::string text) {
    Log& log = change.server().parts.log;
    change.then([&log, id = job.id, line = std::move(text)] { log.job(id, line); });
}

std::string requestor(const Context& context) {
    return context.who.at_host();
}

}  // namespace pbs::host
