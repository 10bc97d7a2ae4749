#include "server_plugin/plugin/requests/status.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/text.h"
#include "server_plugin/record/change_log.h"

namespace pbs::plugin {
namespace {

class ChangesQuery final : public BackgroundQuery {
  public:
    ChangesQuery(std::string sched, std::int64_t version) : sched_(std::move(sched)), version_(version) {}

    void begin(const State& state) override { some_ = state.changes.after(version_, record::kMostChanges); }
    void work(sched::Inspector& scheduler, sched::Instant now) override {
        if (some_) text_ = record::changes_text(scheduler, *some_, now, given_up());
    }
    int32_t answer(const pbs_status_request&, bool, Reply reply) override {
        if (!some_) return reply.error(PBSE_HISTORY, record::too_old_text(version_));
        const ShownAttribute text{"text", text_, {}};
        reply.object(PBS_OBJ_CHANGES, sched_, std::span(&text, 1));
        return PBSE_NONE;
    }

  private:
    std::string sched_;
    std::int64_t version_;
    std::optional<record::ChangeLog::Some> some_;
    std::string text_;
};

}  // namespace

int32_t status_changes(State& state, const pbs_status_request& request, Reply reply) {
    if (!state.changes.keeps())
        return reply.error(PBSE_NOSUP, "no changes are kept on this server, for which pbs_sched schedules");
    if ((request.who.privilege & (PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0) return reply.error(PBSE_PERM, {});
    if (const std::uint64_t ticket = ticket_of(state, request); state.queries.knows(ticket))
        return state.queries.answer(state, request, {}, reply);
    std::string sched = "default";
    if (request.object_name.len != 0) sched = view(request.object_name);
    if (!state.sched_priv.contains(sched)) return reply.error(PBSE_UNKSCHED, {});
    constexpr std::string_view kVersion = "version=";
    const std::string_view extend = view(request.extend);
    if (request.wanted_count != 0 || !extend.starts_with(kVersion))
        return reply.error(PBSE_IVALREQ, "changes: expected no attributes, and version=N");
    const auto version = extend_number("version", extend.substr(kVersion.size()));
    if (!version) return reply.error(PBSE_IVALREQ, version.error().message);
    const auto make = [&] { return std::make_shared<ChangesQuery>(sched, *version); };
    return state.queries.answer(state, request, make, reply);
}

}  // namespace pbs::plugin
