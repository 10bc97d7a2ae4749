#include "server_plugin/plugin/requests/record.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ifl/pbs_error.h"
#include "replay/replay.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// A reply's object is held whole by server and client; a record of many jobs is larger.
constexpr std::size_t kPart = 1 << 20;

// Whoever waits asks again and again; who has stopped is waited for no longer than this.
constexpr sched::Seconds kWaits{30};

int32_t tell(const std::string& sched, std::string_view record, Reply reply) {
    for (std::string_view rest = record; !rest.empty();) {
        const std::string_view part = rest.substr(0, kPart);
        const ShownAttribute text{"text", part, {}};
        reply.object(PBS_OBJ_RECORD, sched, std::span(&text, 1));
        rest.remove_prefix(part.size());
    }
    return PBSE_NONE;
}

int32_t tell_next(NextRecord& next, const std::string& sched, sched::Instant now,
                  std::optional<std::int64_t> after, Reply reply) {
    if (after && next.recorded > *after && !next.text.empty()) {
        const std::string text = std::exchange(next.text, {});
        return tell(sched, text, reply);
    }
    next.wanted_until = now + kWaits;
    const std::string cycles = std::to_string(next.cycles);
    const ShownAttribute begun{"cycles", cycles, {}};
    reply.object(PBS_OBJ_RECORD, sched, std::span(&begun, 1));
    return PBSE_NONE;
}

}  // namespace

int32_t status_record(State& state, const pbs_status_request& request, Reply reply) {
    if ((request.who.privilege & (PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0)
        return reply.error(PBSE_PERM, {});
    constexpr std::string_view after_key = "after=";
    const std::string_view extend = view(request.extend);
    std::optional<std::int64_t> after;
    if (extend.starts_with(after_key))
        if (const auto number = extend_number("after", extend.substr(after_key.size()))) after = *number;
    if (request.wanted_count != 0 || (!extend.empty() && extend != "next" && !after))
        return reply.error(
            PBSE_IVALREQ, "a record is given whole: expected no attributes, and next, after=N or no options");
    replay::CycleAsked asked;
    asked.now = sched::Instant(sched::Seconds(request.now));
    if (request.object_name.len != 0) asked.sched = view(request.object_name);
    if (!state.sched_priv.contains(asked.sched)) return reply.error(PBSE_UNKSCHED, {});
    if (!extend.empty())
        return tell_next(state.next_records[asked.sched], asked.sched, asked.now, after, reply);
    return tell(asked.sched, replay::record_cycle(state.scheduler, asked), reply);
}

void record_next(State& state, const pbs_cycle_request& request) {
    const std::string sched(view(request.sched));
    const sched::Instant now{sched::Seconds(request.now)};
    NextRecord& next = state.next_records[sched];
    ++next.cycles;
    next.text.clear();
    if (const auto until = std::exchange(next.wanted_until, std::nullopt); !until || *until < now) return;
    next.text = replay::record_cycle(state.scheduler,
                                     {now, sched, static_cast<sched::CycleTrigger>(request.trigger)});
    next.recorded = next.cycles;
}

}  // namespace pbs::plugin
