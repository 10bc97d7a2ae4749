// OrderJob: exchanges the positions of two jobs in their queues.
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

ifl::Reply order_job(Context& context) {
    const auto& body = std::get<ifl::MoveJob>(context.request.body);
    auto first = own_job(context, body.job);
    if (!first) return refuse(first.error());
    auto second = own_job(context, body.destination);
    if (!second) return refuse(second.error());
    const auto has_begun = [](const Job& job) { return job.running() || job.state == job_state::kBegun; };
    if (has_begun(**first) || has_begun(**second)) return ifl::Reply::error(PBSE_BADSTATE);
    if (*first == *second) return ifl::Reply::ok();

    Change change(context.server, context.now);
    Job& a = change.job(**first);
    Job& b = change.job(**second);
    const Queue* queue_of_a = context.state().queue(a.queue);
    const Queue* queue_of_b = context.state().queue(b.queue);
    if (queue_of_a == nullptr || queue_of_b == nullptr) return ifl::Reply::error(PBSE_UNKQUE);
    if (queue_of_a != queue_of_b) {
        if (auto ok = enter_queue(change, a, *queue_of_b, Entry::managed); !ok) return refuse(ok.error());
        if (auto ok = enter_queue(change, b, *queue_of_a, Entry::managed); !ok) return refuse(ok.error());
    }
    std::swap(a.queue_rank, b.queue_rank);
    std::swap(a.qtime, b.qtime);
    a.mtime = context.now;
    b.mtime = context.now;
    for (Job* job : {&a, &b})
        if (auto ok = take_up_dependencies(change, *job); !ok) return refuse(ok.error());
    return reply_of(change.commit());
}

}  // namespace pbs::host
