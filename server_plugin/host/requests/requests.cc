#include "server_plugin/host/requests/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/access.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

using ifl::RequestType;

constexpr std::array kHandlers = {
    RequestHandler{RequestType::queue_job, queue_job},
    RequestHandler{RequestType::job_script, job_script},
    RequestHandler{RequestType::ready_to_commit, ready_to_commit},
    RequestHandler{RequestType::commit, commit_job},
    RequestHandler{RequestType::delete_job, delete_job},
    RequestHandler{RequestType::hold_job, hold_job},
    RequestHandler{RequestType::locate_job, locate_job},
    RequestHandler{RequestType::manager, manager},
    RequestHandler{RequestType::message_job, message_job},
    RequestHandler{RequestType::modify_job, modify_job},
    RequestHandler{RequestType::move_job, move_job},
    RequestHandler{RequestType::release_job, release_job},
    RequestHandler{RequestType::rerun_job, rerun_job},
    RequestHandler{RequestType::run_job, run_job},
    RequestHandler{RequestType::select_jobs, select_jobs},
    RequestHandler{RequestType::shutdown, shutdown},
    RequestHandler{RequestType::signal_job, signal_job},
    RequestHandler{RequestType::status_job, status_job},
    RequestHandler{RequestType::status_queue, status_queue},
    RequestHandler{RequestType::status_server, status_server},
    RequestHandler{RequestType::async_run_job, run_job},
    RequestHandler{RequestType::order_job, order_job},
    RequestHandler{RequestType::select_status, select_jobs},
    RequestHandler{RequestType::status_node, status_node},
    RequestHandler{RequestType::submit_reservation, submit_reservation},
    RequestHandler{RequestType::status_reservation, status_reservation},
    RequestHandler{RequestType::confirm_reservation, confirm_reservation},
    RequestHandler{RequestType::delete_reservation, delete_reservation},
    RequestHandler{RequestType::status_scheduler, status_scheduler},
    RequestHandler{RequestType::status_resource, status_resource},
    // There are no hooks, so a query for all hooks finds none.
    RequestHandler{RequestType::status_hook, status_nothing},
    RequestHandler{RequestType::modify_reservation, modify_reservation},
    RequestHandler{RequestType::modify_job_async, modify_job},
    RequestHandler{RequestType::run_job_acknowledged, run_job},
    RequestHandler{RequestType::delete_job_list, delete_job_list},
};

ifl::Reply dispatch(Context& context) {
    const auto type = context.request.type;
    const auto at = std::find_if(kHandlers.begin(), kHandlers.end(),
                                 [&](const RequestHandler& row) { return row.type == type; });
    if (at != kHandlers.end()) return at->handle(context);
    const std::string_view name = ifl::request_name(type);
    if (name.empty()) return ifl::Reply::error(PBSE_UNKREQ);
    return ifl::Reply::error(PBSE_NOSUP, fmt::format("No support for requested service: {}", name));
}

ifl::Reply failed(const Context& context, const std::exception& error) {
    context.server.parts.log.error(
        "answer",
        fmt::format("request {} failed: {}", ifl::request_name(context.request.type), error.what()));
    return ifl::Reply::error(PBSE_SYSTEM);
}

}  // namespace

std::span<const RequestHandler> request_handlers() {
    return kHandlers;
}

ifl::Reply Steps::reply() {
    ifl::Reply reply;
    reply.body = ifl::StatusReply{};
    return reply;
}

ifl::Reply begin_answer(Context& context) {
    // Catch exceptions, so that only this request fails: a library may throw, such as when memory is short.
    try {
        const auto allowed = may_use(context.state(), context.who);
        ifl::Reply reply = allowed ? dispatch(context) : refuse(allowed.error());
        if (context.rest == nullptr) log_refusal(context, reply);
        return reply;
    } catch (const std::exception& error) {
        return failed(context, error);
    }
}

Steps::Remaining go_on(Context& context, ifl::StatusParts& out, bool shown,
                       std::optional<ifl::Reply>& reply) {
    try {
        context.now = context.server.now();
        const Steps::Remaining left = context.rest->step(context, out);
        if (left == Steps::Remaining::nothing && !shown && out.empty()) {
            reply = context.rest->reply();
            log_refusal(context, *reply);
        }
        return left;
    } catch (const std::exception& error) {
        reply = failed(context, error);
        return Steps::Remaining::nothing;
    }
}

}  // namespace pbs::host
