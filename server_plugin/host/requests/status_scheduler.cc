// StatusSched: shows the schedulers. With "object=KIND" at the start of the extend string it shows other
// objects: the plugin's, for policy, time_window, fs_group, quota, configuration, history, explanation,
// record, changes, fairshare and quota_use; the server's accounting records, for accounting; its counters,
// for diagnosis. "object=registration" makes the client a scheduler.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/host/requests/status_scheduler.h"
#include "server_plugin/host/requests/test_start.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/object_types.h"

namespace pbs::host {
namespace {

struct PluginObject {
    std::string_view kind;
    int type;
};
constexpr std::array kPluginObjects = {PluginObject{"configuration", PBS_OBJ_CONFIGURATION},
                                       PluginObject{"history", PBS_OBJ_HISTORY},
                                       PluginObject{"explanation", PBS_OBJ_EXPLANATION},
                                       PluginObject{"record", PBS_OBJ_RECORD},
                                       PluginObject{"fairshare", PBS_OBJ_FAIRSHARE},
                                       PluginObject{"quota_use", PBS_OBJ_QUOTA_USE},
                                       PluginObject{"changes", PBS_OBJ_CHANGES}};

// Returns the object type that "object=KIND" names; 0: KIND is none of the plugin's types.
int type_of(std::string_view text) {
    constexpr std::string_view kBegin = "object=";
    if (!text.starts_with(kBegin)) return 0;
    text.remove_prefix(kBegin.size());
    if (const auto* own = values::find_type(text); own != nullptr && own->own)
        return static_cast<int>(own->type);
    const auto* row = std::ranges::find(kPluginObjects, text, &PluginObject::kind);
    return row == kPluginObjects.end() ? 0 : row->type;
}

// When the plugin has its answer, sends a part of it in each step.
class PluginStatus final : public Steps {
  public:
    PluginStatus(Server& server, int type, std::string name, std::string extend, uint64_t ticket)
        : server_(server), type_(type), name_(std::move(name)), extend_(std::move(extend)), ticket_(ticket) {}
    ~PluginStatus() override { server_.parts.plugin->abandon(ticket_); }

    Remaining step(Context& context, ifl::StatusParts& out) override {
        const bool others_first = server_.cycle_waits || server_.placing > 0;
        if (others_first && ticket_ != 0 && !begun_) return Remaining::later;
        const auto& wanted = std::get<ifl::Status>(context.request.body).wanted;
        auto next = server_.parts.plugin->status_part(context.now, type_, name_, wanted, context.who, extend_,
                                                      ticket_, out);
        if (!next && next.error().code == PBSE_TRYAGAIN) return Remaining::later;
        if (!next) refusal_ = refuse(next.error());
        if (!next || next->empty()) return Remaining::nothing;
        extend_ = std::move(*next);
        begun_ = true;
        return Remaining::more;
    }
    ifl::Reply reply() override { return refusal_ ? std::move(*refusal_) : Steps::reply(); }

  private:
    Server& server_;
    int type_;
    std::string name_;
    std::string extend_;
    uint64_t ticket_;
    bool begun_ = false;  // the plugin has an answer
    std::optional<ifl::Reply> refusal_;
};

std::unique_ptr<Steps> steps_of(Context& context, int type, const std::string& name, std::string extend) {
    const bool may_take_long = !is_plugin_type(static_cast<uint32_t>(type));
    const uint64_t ticket = may_take_long ? ++context.server.last_ticket : 0;
    return std::make_unique<PluginStatus>(context.server, type, name, std::move(extend), ticket);
}

ifl::Reply by_and_by(Context& context, int type, const std::string& name, std::string_view extend) {
    context.rest = steps_of(context, type, name, std::string(extend));
    return {};
}

// Explains why a job starts or waits. Only users who may see the job get the explanation.
ifl::Reply explanation(Context& context, const ifl::Status& body, std::string_view extend) {
    if (!extend.empty()) return explain_start(context, extend);
    if (!body.wanted.empty())
        return ifl::Reply::error(PBSE_IVALREQ, "an explanation is given whole: expected no attributes");
    const auto job = explained_job(context, body.object);
    if (!job) return refuse(job.error());
    return by_and_by(context, PBS_OBJ_EXPLANATION, (*job)->id, {});
}

ifl::Reply plugin_status(Context& context, const ifl::Status& body, int type, std::string_view extend) {
    Plugin* plugin = context.server.parts.plugin;
    if (plugin == nullptr) return ifl::Reply::error(PBSE_NOSUP);
    if (type == PBS_OBJ_CONFIGURATION) return status_configuration(context, extend);
    if (type == PBS_OBJ_EXPLANATION) return explanation(context, body, extend);
    if (type == PBS_OBJ_RECORD || type == PBS_OBJ_FAIRSHARE || type == PBS_OBJ_QUOTA_USE)
        return by_and_by(context, type, body.object, extend);
    if (type == PBS_OBJ_CHANGES)
        return status_changes(context, extend, [&](std::string version) {
            return steps_of(context, type, body.object, std::move(version));
        });
    if (is_plugin_type(static_cast<uint32_t>(type)) && body.object.empty() && extend.empty())
        return by_and_by(context, type, {}, "after=");
    return plugin->status(context.now, type, body.object, body.wanted, context.who, extend);
}

}  // namespace

ifl::Reply status_scheduler(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    const std::string_view extend = context.request.extend;
    const auto end = extend.find(';');
    const std::string_view rest = end == std::string_view::npos ? "" : extend.substr(end + 1);
    if (extend.substr(0, end) == "object=accounting") return status_accounting(context, rest);
    if (extend.substr(0, end) == "object=diagnosis") return status_diagnosis(context, rest);
    if (extend.substr(0, end) == "object=registration") return register_scheduler(context, rest);
    if (const int type = type_of(extend.substr(0, end)); type != 0)
        return plugin_status(context, body, type, rest);
    if (auto bad = unknown_attribute(context, PBS_OBJ_SCHED, body.wanted)) return *bad;
    const View view = view_of(context);
    ifl::StatusReply status;
    for (const auto& [name, sched] : context.state().scheds())
        if (body.object.empty() || body.object.front() == '@' || body.object == name)
            status.objects.push_back({PBS_OBJ_SCHED, name, describe(sched, context, view)});
    if (status.objects.empty()) return ifl::Reply::error(PBSE_UNKSCHED);
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

}  // namespace pbs::host
