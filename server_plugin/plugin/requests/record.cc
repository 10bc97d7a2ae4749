#include "server_plugin/plugin/requests/record.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/spool_file.h"
#include "server_plugin/plugin/text.h"
#include "server_plugin/record/record_file.h"

namespace pbs::plugin {
namespace {

// The size of a part of a record, in bytes.
constexpr std::size_t kPartSize = std::size_t{256} << 10;

// A finished record waits so long for its client, and a client's wish so long for a cycle.
constexpr sched::Seconds kWaits{30};

constexpr std::string_view kOffset = "offset=";

class RecordQuery final : public BackgroundQuery {
  public:
    RecordQuery(const State& state, record::CycleAsked asked)
        : asked_(std::move(asked)), file_(fmt::format("{}/server_priv", state.host.home())) {}

    void begin(const State& state) override { asked_.version = state.changes.version(); }
    void work(sched::Inspector& scheduler, sched::Instant now) override {
        asked_.now = now;
        const auto write = [this](std::string_view text) {
            file_.append(text);
            if (!file_.error().empty()) give_up();
        };
        record::record_cycle(scheduler, asked_, write, given_up());
    }
    int32_t answer(const pbs_status_request& request, bool in_parts, Reply reply) override {
        if (!file_.error().empty())
            return reply.error(PBSE_SYSTEM, fmt::format("a record can't be kept: {}", file_.error()));
        const std::string_view extend = view(request.extend);
        std::int64_t offset = 0;
        if (extend.starts_with(kOffset)) {
            const auto number = extend_number("offset", extend.substr(kOffset.size()));
            if (!number) return reply.error(PBSE_IVALREQ, number.error().message);
            offset = *number;
        }
        do {
            const auto part = file_.part(offset, kPartSize);
            if (!part) return reply.error(PBSE_SYSTEM, part.error());
            const ShownAttribute text{"text", *part, {}};
            reply.object(PBS_OBJ_RECORD, asked_.sched, std::span(&text, 1));
            offset += static_cast<std::int64_t>(part->size());
            all_told_ = offset >= file_.size();
        } while (!in_parts && !all_told_);
        if (!all_told_) reply.attribute({"offset", std::to_string(offset), {}});
        return PBSE_NONE;
    }
    bool all_told() const override { return all_told_; }
    bool is_large() const override { return true; }
    bool free_some() override { return file_.shrink(); }

  private:
    record::CycleAsked asked_;
    SpoolFile file_;
    bool all_told_ = false;
};

int32_t tell_next(State& state, const pbs_status_request& request, const record::CycleAsked& asked,
                  std::optional<std::int64_t> after, Reply reply) {
    NextRecord& next = state.next_records[asked.sched];
    if (after && next.recorded > *after && next.record) {
        const std::shared_ptr<BackgroundQuery> look = std::exchange(next.record, nullptr);
        const std::uint64_t ticket = ticket_of(state, request);
        if (ticket == 0) return look->answer(request, false, reply);
        state.queries.put(ticket, look);
        return state.queries.answer(state, request, {}, reply);
    }
    const bool is_being_made = state.in_flight.record && state.in_flight.sched == asked.sched;
    if (!is_being_made) next.wanted_until = instant(request.now) + kWaits;
    const std::string cycles = std::to_string(next.cycles);
    const ShownAttribute begun{"cycles", cycles, {}};
    reply.object(PBS_OBJ_RECORD, asked.sched, std::span(&begun, 1));
    return PBSE_NONE;
}

}  // namespace

int32_t status_record(State& state, const pbs_status_request& request, Reply reply) {
    if ((request.who.privilege & (PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0)
        return reply.error(PBSE_PERM, {});
    const std::uint64_t ticket = ticket_of(state, request);
    if (state.queries.knows(ticket)) return state.queries.answer(state, request, {}, reply);
    constexpr std::string_view kAfterKey = "after=";
    const std::string_view extend = view(request.extend);
    std::optional<std::int64_t> after;
    if (extend.starts_with(kAfterKey))
        if (const auto number = extend_number("after", extend.substr(kAfterKey.size()))) after = *number;
    if (request.wanted_count != 0 || (!extend.empty() && extend != "next" && !after))
        return reply.error(
            PBSE_IVALREQ, "a record is given whole: expected no attributes, and next, after=N or no options");
    record::CycleAsked asked;
    if (request.object_name.len != 0) asked.sched = view(request.object_name);
    if (!state.sched_priv.contains(asked.sched)) return reply.error(PBSE_UNKSCHED, {});
    if (!extend.empty()) return tell_next(state, request, asked, after, reply);
    const auto make = [&] { return std::make_shared<RecordQuery>(state, asked); };
    return state.queries.answer(state, request, make, reply);
}

std::function<void(sched::Inspector&)> record_next(State& state, const pbs_cycle_request& request) {
    const std::string sched(view(request.sched));
    const sched::Instant now{sched::Seconds(request.now)};
    NextRecord& next = state.next_records[sched];
    ++next.cycles;
    state.queries.discard(std::exchange(next.record, nullptr));
    if (const auto until = std::exchange(next.wanted_until, std::nullopt); !until || *until < now) return {};
    const auto look = std::make_shared<RecordQuery>(
        state, record::CycleAsked{{}, sched, static_cast<sched::CycleTrigger>(request.trigger), false});
    look->begin(state);
    state.in_flight.record = look;
    return [look, now](sched::Inspector& scheduler) { look->work(scheduler, now); };
}

void keep_record(State& state, sched::Instant now) {
    if (!state.in_flight.record) return;
    NextRecord& next = state.next_records[state.in_flight.sched];
    next.record = std::exchange(state.in_flight.record, nullptr);
    next.recorded = next.cycles;
    next.kept_until = now + kWaits;
}

void forget_records(State& state, sched::Instant now) {
    for (auto& [sched, next] : state.next_records)
        if (next.kept_until < now) state.queries.discard(std::exchange(next.record, nullptr));
}

}  // namespace pbs::plugin
