#include "server_plugin/host/requests/not_acted_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// An attribute that has an effect only while the boolean attribute `by` of the same object is True.
struct Switched {
    int type;  // enum pbs_object_type
    std::string_view attribute;
    std::string_view by;
};
constexpr Switched kSwitched[] = {{PBS_OBJ_SERVER, "acl_hosts", "acl_host_enable"},
                                  {PBS_OBJ_SERVER, "acl_users", "acl_user_enable"},
                                  {PBS_OBJ_SERVER, "job_history_duration", "job_history_enable"},
                                  {PBS_OBJ_QUEUE, "acl_hosts", "acl_host_enable"},
                                  {PBS_OBJ_QUEUE, "acl_users", "acl_user_enable"},
                                  {PBS_OBJ_QUEUE, "acl_groups", "acl_group_enable"}};

constexpr std::string_view kOfRouteQueues[] = {"route_destinations", "route_held_jobs", "route_waiting_jobs",
                                               "route_retry_time", "route_lifetime"};
// Attributes that have an effect only on execution queues. time_window belongs to the plugin.
constexpr std::string_view kOfExecutionQueues[] = {"Priority",       "max_running",         "max_user_run",
                                                   "max_group_run",  "resources_available", "kill_delay",
                                                   "backfill_depth", "time_window"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::any_of(names, [&](std::string_view one) { return same_name(one, name); });
}

bool asks_for_something(const ifl::Attribute& change) {
    return !change.value.empty() && change.op != ifl::Op::unset && change.op != ifl::Op::decr;
}

class Warnings {
  public:
    Warnings(Management& request, const Attributes& attributes, std::string title)
        : request_(request), attributes_(attributes), title_(std::move(title)) {}

    void look_at(std::string_view name) {
        for (const Switched& row : kSwitched)
            if (row.type == request_.type && same_name(row.attribute, name) &&
                !attributes_.boolean(row.by, false))
                add(row.attribute, fmt::format(" without {}", row.by));
        if (request_.type != PBS_OBJ_QUEUE) return;
        const std::string_view type = attributes_.text("queue_type");
        if (type == "Execution" && is_among(kOfRouteQueues, name)) add(name, ": it is for route queues");
        if (type == "Route" && is_among(kOfExecutionQueues, name)) add(name, ": it is for execution queues");
    }

  private:
    void add(std::string_view name, std::string_view why) {
        add_warning(request_, fmt::format("{}: {} has no effect{}", title_, name, why));
    }

    Management& request_;
    const Attributes& attributes_;
    std::string title_;
};

}  // namespace

void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view name) {
    if (request.command == PBS_CMD_UNSET) return;
    const bool queue = request.type == PBS_OBJ_QUEUE;
    Warnings warnings(request, attributes, queue ? fmt::format("queue {}", name) : "server");
    std::vector<std::string> told;  // attributes that were checked; a list may be set in several steps
    ifl::Attributes values;
    for (const ifl::Attributes* changes : {&request.own, &request.plugins}) {
        for (const ifl::Attribute& change : *changes) {
            if (!asks_for_something(change) ||
                std::ranges::find(told, values::lowered(change.name)) != told.end())
                continue;
            warnings.look_at(change.name);
            told.push_back(values::lowered(change.name));
            if (const AttributeDef* def = queue ? queue_table().find(change.name) : nullptr)
                values.push_back({std::string(def->name), {}, std::string(attributes.text(def->name))});
        }
    }
    Plugin* plugin = request.context.server.parts.plugin;
    if (plugin == nullptr || values.empty() || attributes.text("queue_type") == "Route") return;
    plugin->not_acted_on(request.context.now, name, attributes.text("partition"), values, request.warning);
}

}  // namespace pbs::host
