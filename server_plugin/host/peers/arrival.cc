#include "server_plugin/host/peers/arrival.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/job_attributes.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/store/store.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// A job can't be moved to another server if one of these attributes is set.
constexpr std::array kOfOneServer = {"interactive", "block", "depend", "array_indices_submitted"};
// Attributes that only OpenPBS has and that users set. A job with such an attribute is refused; other
// attributes that only OpenPBS has are ignored.
constexpr std::array kAskedOfOpenPbs = {"security",
                                        "reserve_ID",
                                        "gui",
                                        "forward_x11_cookie",
                                        "forward_x11_port",
                                        "job_kill_delay",
                                        "release_nodes_on_stageout",
                                        "tolerate_node_failures"};
// This server ignores these attributes of an arriving job, because only the sending server can compute them.
constexpr std::array kOfThatServer = {"comment", "eligible_time"};
constexpr std::size_t kLongestOwner = 320;

template <typename Names>
bool among(const Names& names, std::string_view name) {
    return std::ranges::any_of(names, [&](std::string_view one) { return same_name(one, name); });
}

// Checks the owner and sets it. The check matters because the name appears in log lines and records.
Result<void> take_owner(Job& job, const std::string& owner) {
    const auto at = owner.find('@');
    const bool legal =
        at != std::string::npos && at != 0 && at + 1 < owner.size() && owner.size() <= kLongestOwner &&
        owner.find('@', at + 1) == std::string::npos &&
        std::ranges::all_of(owner, [](unsigned char c) { return std::isgraph(c) != 0 && c != ','; });
    if (!legal) return fail(PBSE_BADATVAL, "Illegal Job_Owner: expected user@host");
    set_attribute(job, "Job_Owner", owner);
    return {};
}

Result<void> take(Job& job, const ifl::Attribute& attribute, const State& state) {
    const std::string& name = attribute.name;
    if (same_name(name, "Job_Owner")) return take_owner(job, attribute.value);
    for (const char* number : {"ctime", "hop_count"}) {
        if (!same_name(name, number)) continue;
        const auto value = canonical(Type::integer, attribute.value);
        if (!value) return fail(PBSE_BADATVAL, {});
        if (same_name(name, "ctime"))
            job.ctime = amount_of(Type::integer, *value);
        else
            set_attribute(job, name, *value);
        return {};
    }
    if (among(kOfOneServer, name) && !attribute.value.empty() && attribute.value != "False")
        return fail(PBSE_NOSUP,
                    fmt::format("No support for requested service: a job with {} stays on its server", name));
    const AttributeDef* def = job_table().find(name);
    if (def == nullptr) {
        if (!among(kAskedOfOpenPbs, name) || attribute.value.empty() || attribute.value == "False") return {};
    } else if ((def->flags & (kAllWrites | at_creation)) == 0 || among(kOfThatServer, name)) {
        return {};
    }
    ifl::Attribute change = attribute;
    change.op = ifl::Op::set;
    return set_job_attribute(job, change, kAllWrites | at_creation, state);
}

}  // namespace

Result<void> may_hand_in(const Server& server, const Identity& who, const std::string& address,
                         const Queue& queue) {
    if (who.manager()) return {};
    const bool root = who.user == "root" || who.user == server.options.starter;
    if (root && server.peers != nullptr && server.peers->pulls_from(who.host, address, queue.name)) return {};
    return fail(
        PBSE_IVALREQ,
        fmt::format("Invalid request: {} is no manager here, and no server that jobs are pulled from into "
                    "queue {}",
                    who.at_host(), queue.name));
}

Result<void> is_new(Server& server, const std::string& id, int64_t hops) {
    const Job* job = server.state.job(id);
    if (job != nullptr && job->state != job_state::kMoved) return fail(PBSE_JOBEXIST);
    const auto before = server.parts.store.received(values::lowered(id));
    if (!before) return tl::unexpected(before.error());
    if (*before && **before >= hops) return fail(PBSE_JOBEXIST);
    return {};
}

Result<void> take_attributes(Job& job, const ifl::Attributes& attributes, const State& state,
                             size_t& refused) {
    for (refused = 0; refused < attributes.size(); ++refused)
        if (auto ok = take(job, attributes[refused], state); !ok) return ok;
    if (!job.attributes.has("Job_Owner")) return fail(PBSE_BADATVAL, "a job without Job_Owner");
    return {};
}

}  // namespace pbs::host
