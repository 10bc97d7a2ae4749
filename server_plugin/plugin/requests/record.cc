#include "server_plugin/plugin/requests/record.h"

#include <algorithm>
#include <span>
#include <string>

#include "ifl/pbs_error.h"
#include "replay/replay.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// A reply's object is held whole by server and client; a record of many jobs is larger.
constexpr std::size_t kPart = 1 << 20;

}  // namespace

int32_t status_record(State& state, const pbs_status_request& request, Reply reply) {
    if ((request.who.privilege & (PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0)
        return reply.error(PBSE_PERM, {});
    if (request.wanted_count != 0 || request.extend.len != 0)
        return reply.error(PBSE_IVALREQ, "a record is given whole: expected no attributes and no options");
    replay::CycleAsked asked;
    asked.now = sched::Instant(sched::Seconds(request.now));
    if (request.object_name.len != 0) asked.sched = view(request.object_name);
    if (!state.sched_priv.contains(asked.sched)) return reply.error(PBSE_UNKSCHED, {});
    const std::string record = replay::record_cycle(state.scheduler, asked);
    for (std::string_view rest = record; !rest.empty();) {
        const std::string_view part = rest.substr(0, kPart);
        const ShownAttribute text{"text", part, {}};
        reply.object(PBS_OBJ_RECORD, asked.sched, std::span(&text, 1));
        rest.remove_prefix(part.size());
    }
    return PBSE_NONE;
}

}  // namespace pbs::plugin
