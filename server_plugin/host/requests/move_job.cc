// MoveJob: moves a job to another queue of this server, or of another server.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/peers/deliveries.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// A destination of a move: "queue", "queue@server[:port]", "@server" or empty. An empty `queue` is the
// default queue.
struct Destination {
    std::string_view queue;
    std::optional<ServerName> server;  // nullopt: this server
};

Result<Destination> destination_of(const Context& context, std::string_view text) {
    const auto at = text.find('@');
    Destination destination{text.substr(0, at), {}};
    if (at == std::string_view::npos) return destination;
    const std::string_view server = text.substr(at + 1);
    const auto name = server_name_of(server);
    if (!name) return fail(PBSE_BADHOST, fmt::format("Unknown Host: {} is no server", server));
    // Compare ports, too, because several servers on one machine differ by them.
    const bool port = server.find(':') != std::string_view::npos;
    const bool here =
        context.state().is_this_server(name->host) &&
        (!port || name->port == context.server.options.port || context.server.options.port == 0);
    if (!here) destination.server = *name;
    return destination;
}

Result<const Queue*> own_queue(const State& state, std::string_view name) {
    if (name.empty()) name = state.server.text("default_queue");
    const Queue* queue = state.queue(name);
    if (queue == nullptr) return fail(name.empty() ? PBSE_QUENODFLT : PBSE_UNKQUE);
    return queue;
}

// Waits for the outcome of the delivery to the other server. The outcome is the reply.
class Move final : public Answered {
  public:
    explicit Move(std::shared_ptr<const Deliveries::Outcome> outcome) : outcome_(std::move(outcome)) {}
    Remaining step(Context&, ifl::StatusParts&) override {
        return outcome_->reply ? end(*outcome_->reply) : Remaining::later;
    }

  private:
    std::shared_ptr<const Deliveries::Outcome> outcome_;
};

// Moves a job to another server, if the requester is an operator. Ordinary users must not choose the address,
// because a server at the address trusts this server's connection as root's.
ifl::Reply move_to_other(Context& context, const Job& job, const Destination& destination) {
    if (!context.who.operator_())
        return ifl::Reply::error(PBSE_PERM,
                                 "Unauthorized Request: operators and managers move jobs to other servers");
    if (context.server.deliveries == nullptr) return ifl::Reply::error(PBSE_NOSUP);
    if (context.server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    auto begun =
        context.server.deliveries->begin(job, destination.queue, *destination.server, requestor(context));
    if (!begun) return refuse(begun.error());
    context.rest = std::make_unique<Move>(std::move(*begun));
    return {};
}

}  // namespace

ifl::Reply move_job(Context& context) {
    const auto& body = std::get<ifl::MoveJob>(context.request.body);
    auto current = own_job(context, body.job);
    if (!current) return refuse(current.error());
    const char state = (*current)->state;
    if (state != job_state::kQueued && state != job_state::kHeld && state != job_state::kWaiting)
        return ifl::Reply::error(PBSE_BADSTATE);
    const auto destination = destination_of(context, body.destination);
    if (!destination) return refuse(destination.error());
    if (destination->server) return move_to_other(context, **current, *destination);
    const auto found = own_queue(context.state(), destination->queue);
    if (!found) return refuse(found.error());
    const Queue& queue = **found;

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    const Entry entry = context.who.operator_() ? Entry::managed : Entry::submitted;
    if (auto ok = enter_queue(change, job, queue, entry); !ok) return refuse(ok.error());
    if (queue.route()) {
        const Routing routed = route_job(change, job, queue);
        if (routed.outcome == Routing::Outcome::rejected) return refuse(routed.error);
    }
    log_job(change, job,
            fmt::format("Job moved to {} at request of {}", job.queue_name.text(), requestor(context)));
    if (auto ok = take_up_dependencies(change, job); !ok) return refuse(ok.error());
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return reply_of(change.commit());
}

}  // namespace pbs::host
