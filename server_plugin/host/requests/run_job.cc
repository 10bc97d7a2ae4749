// RunJob (qrun) and its two asynchronous forms: an operator starts a job now. The destination names vnodes:
// "n1", "n1+n2" in the order of the chunks, or an exec_vnode with amounts; without one the server takes the
// first vnodes that have room.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/exec_vnode.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/placement.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

Result<std::vector<Place>> places_for(const Context& context, const Job& job, std::string_view destination) {
    const State& state = context.state();
    if (destination.empty()) return place_job(job, state);
    auto asked = parse_exec_vnode(destination, state);
    if (!asked) return asked;
    bool with_amounts = false;
    std::vector<const Node*> nodes;
    for (const Place& place : *asked) {
        with_amounts = with_amounts || !place.amounts.empty();
        nodes.push_back(state.node(place.node));
    }
    if (!with_amounts) return place_job(job, state, nodes);
    if (auto ok = check_places(*asked, state); !ok) return tl::unexpected(ok.error());
    return asked;
}

}  // namespace

ifl::Reply run_job(Context& context) {
    const auto& body = std::get<ifl::RunJob>(context.request.body);
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    if (context.server.stopping) return ifl::Reply::error(PBSE_SVRDOWN);
    auto current = live_job(context, body.job);
    if (!current) return refuse(current.error());
    const Queue* queue = context.state().queue((*current)->queue);
    const bool startable = (*current)->state == job_state::queued || (*current)->state == job_state::waiting;
    if (!startable || queue == nullptr || !queue->execution()) return ifl::Reply::error(PBSE_BADSTATE);
    auto places = places_for(context, **current, body.destination);
    if (!places) return refuse(places.error());

    Change change(context.server, context.now);
    Job& job = change.job(**current);
    if (auto ok =
            start_job(change, job, *places, fmt::format("Job run at request of {}", requestor(context)));
        !ok)
        return refuse(ok.error());
    log_job(change, job, fmt::format("Job Run at request of {}", requestor(context)));
    return reply_of(change.commit());
}

}  // namespace pbs::host
