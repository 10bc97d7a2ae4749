// MoveJob: to another queue of this server. Jobs aren't sent to other servers.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/depend.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/routing.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// "queue", "queue@server", "@server" or nothing: the default queue.
const Queue* destination(const Context& context, std::string_view text, Error& error) {
    const auto at = text.find('@');
    if (at != std::string_view::npos) {
        const std::string_view server = text.substr(at + 1, text.find(':', at) - at - 1);
        if (!context.state().is_this_server(server)) {
            error = {PBSE_NOSUP, "No support for requested service: moving jobs to another server"};
            return nullptr;
        }
    }
    std::string_view name = text.substr(0, at);
    if (name.empty()) name = context.state().server.text("default_queue");
    error = {name.empty() ? PBSE_QUENODFLT : PBSE_UNKQUE, {}};
    return context.state().queue(name);
}

}  // namespace

ifl::Reply move_job(Context& context) {
    const auto& body = std::get<ifl::MoveJob>(context.request.body);
    auto current = own_job(context, body.job);
    if (!current) return refuse(current.error());
    const char state = (*current)->state;
    if (state != job_state::kQueued && state != job_state::kHeld && state != job_state::kWaiting)
        return ifl::Reply::error(PBSE_BADSTATE);
    Error error;
    const Queue* queue = destination(context, body.destination, error);
    if (queue == nullptr) return refuse(error);

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    const Entry entry = context.who.operator_() ? Entry::managed : Entry::submitted;
    if (auto ok = enter_queue(change, job, *queue, entry); !ok) return refuse(ok.error());
    if (queue->route() && queue->started()) {
        const Routing routed = route_job(change, job, *queue);
        if (routed.outcome == Routing::Outcome::rejected) return refuse(routed.error);
    }
    log_job(change, job, fmt::format("Job moved to {} at request of {}", job.queue_name, requestor(context)));
    if (auto ok = take_up_dependencies(change, job); !ok) return refuse(ok.error());
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return reply_of(change.commit());
}

}  // namespace pbs::host
