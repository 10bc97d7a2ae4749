// Shutdown (qterm): running jobs go on and are found again by the next start, which is what PBS calls
// "quick"; the other manners, which checkpoint, rerun or wait for jobs, are refused.
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {
// The manner without the bits that say who else is to go down.
constexpr uint32_t manner_mask = 0xf;
}  // namespace

ifl::Reply shutdown(Context& context) {
    const auto& body = std::get<ifl::Shutdown>(context.request.body);
    if (auto ok = operators_only(context); !ok) return refuse(ok.error());
    // The upper bits ask for schedulers, MOMs and secondary servers to go down as well: all of them are this
    // process.
    const uint32_t manner = body.manner & manner_mask;
    if (manner != SHUT_QUICK)
        return ifl::Reply::error(
            PBSE_NOSUP, "No support for requested service: only \"qterm -t quick\" (running jobs go on)");
    context.server.parts.log.write(LogEvent::system, LogClass::server, "Server",
                                   fmt::format("Shutdown request from {}", requestor(context)));
    context.server.stopping = true;
    return ifl::Reply::ok();
}

}  // namespace pbs::host
