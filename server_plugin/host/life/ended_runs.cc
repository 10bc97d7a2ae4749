#include "server_plugin/host/life/ended_runs.h"

#include <utility>

#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/store/store.h"

namespace pbs::host {
namespace {

void forget(Server& server, const std::vector<RunId>& runs) {
    for (const RunId& run : runs) server.parts.executor.forget(run);
}

}  // namespace

void EndedRuns::look() {
    if (server_.ends_on_their_way || server_.ended_runs.empty()) return;
    work_.data = this;
    const int code = uv_queue_work(
        loop_, &work_,
        [](uv_work_t* work) {
            auto& ended = *static_cast<EndedRuns*>(work->data);
            ended.outcome_ = ended.server_.parts.store.sync();
        },
        [](uv_work_t* work, int) {
            auto& ended = *static_cast<EndedRuns*>(work->data);
            guarded(ended.server_.parts.log, "jobs", [&] { ended.written(); });
        });
    if (code != 0) return;  // the next look() tries again
    server_.ends_on_their_way = true;
    on_their_way_ = std::exchange(server_.ended_runs, {});
}

// If the ends of the runs are on the disk, removes the runs' records. After an error it isn't known which
// ends are there, so the records stay. The server's next start removes the records of ended runs.
void EndedRuns::written() {
    server_.ends_on_their_way = false;
    const auto runs = std::exchange(on_their_way_, {});
    if (outcome_)
        forget(server_, runs);
    else
        server_.parts.log.error("jobs", outcome_.error().message);
    look();
}

Result<void> settle_ended_runs(Server& server) {
    if (server.ended_runs.empty() && !server.ends_on_their_way) return {};
    auto done = server.parts.store.sync();
    if (done) forget(server, std::exchange(server.ended_runs, {}));
    return done;
}

}  // namespace pbs::host
