#include "server_plugin/host/requests/test_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cluster/deal.h"
#include "ifl/pbs_error.h"
#include "ifl/program_requests.h"
#include "server_plugin/host/policy/plugin_records.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {
namespace {

// The extend string after "object=explanation;", and the attribute that has the place. The place isn't in the
// extend string itself, because it may be longer.
constexpr std::string_view kAtPlace = "location";

// Asks the plugin as soon as no cycle runs. An explanation starts nothing, so cycles and queries of others
// don't wait for it.
class ExplainedStart final : public Answered {
  public:
    ExplainedStart(Server& server, std::string location)
        : server_(server), location_(std::move(location)), ticket_(++server.last_ticket) {}
    ~ExplainedStart() override { server_.parts.plugin->abandon(ticket_); }

    Remaining step(Context& context, ifl::StatusParts& out) override {
        const auto job = explained_job(context, std::get<ifl::Status>(context.request.body).object);
        if (!job) return end(refuse(job.error()));
        // Read the place only once the plugin can test it: a place may be long.
        if (server_.parts.plugin->has_cycle()) return Remaining::later;
        if (!places_) {
            auto named = location_.empty() ? Result<std::vector<Place>>(std::vector<Place>())
                                           : named_places(**job, context.state(), location_, true);
            if (!named) return end(refuse(named.error()));
            places_ = *std::move(named);
        }
        std::vector<ifl::ObjectStatus> objects;
        const auto decision = server_.parts.plugin->test_start(
            context.now, (*job)->told_as(), *places_, context.state(), context.who.user, ticket_, &objects);
        if (!decision && decision.error().code == PBSE_TRYAGAIN) return Remaining::later;
        if (!decision) return end(refuse(decision.error()));
        if (!objects.empty()) objects[0].attributes.push_back({"location", "", location_, ifl::Op::set});
        for (const ifl::ObjectStatus& object : objects) out.add(object.type, object.name, object.attributes);
        return Remaining::nothing;
    }

  private:
    Server& server_;
    std::string location_;
    uint64_t ticket_;
    std::optional<std::vector<Place>> places_;
};

}  // namespace

Result<std::vector<Place>> named_places(const Job& job, const State& state, std::string_view location,
                                        bool is_tested) {
    const auto check = [is_tested](int64_t places) {
        return is_tested ? ifl::check_tested_places(places) : Result<void>();
    };
    if (auto few = check(std::ranges::count(location, '+') + 1); !few) return tl::unexpected(few.error());
    auto named = parse_exec_vnode(location, state);
    if (!named || std::ranges::any_of(*named, [](const Place& p) { return !p.amounts.empty(); }))
        return named;
    const std::string_view chunks = job.attributes.text("schedselect");
    if (auto few = check(cluster::chunk_count(chunks)); !few) return tl::unexpected(few.error());
    return cluster::deal_chunks(chunks, *named, StateNames(state));
}

Result<const Job*> explained_job(const Context& context, std::string_view id) {
    const auto target = target_of(context.state(), id);
    if (!target) return tl::unexpected(target.error());
    const Job* job = target->job;
    if (target->subjobs()) {
        if (!target->single || !job->is_array() ||
            !job->subjobs->submitted.contains(target->indices[0].first))
            return fail(PBSE_UNKJOBID, {});
        // A queued subjob waits for the same reasons as its array, so explain the array.
        const Job* subjob = context.state().subjob(job->sequence, target->indices[0].first);
        if (subjob != nullptr && subjob->state != job_state::kQueued) job = subjob;
    }
    if (job->history()) return fail(PBSE_HISTJOBID, {});
    if (!may_see(context, *job)) return fail(PBSE_PERM, {});
    return job;
}

ifl::Reply explain_start(Context& context, std::string_view extend) {
    if (!context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    const ifl::Attributes& asked = std::get<ifl::Status>(context.request.body).wanted;
    if (extend != kAtPlace || asked.size() != 1 || asked[0].name != kAtPlace)
        return ifl::Reply::error(
            PBSE_IVALREQ, fmt::format("explanation '{}': expected no option; or the option location, and "
                                      "one attribute location with the place",
                                      extend.substr(0, 100)));
    context.rest = std::make_unique<ExplainedStart>(context.server, asked[0].value);
    return {};
}

}  // namespace pbs::host
