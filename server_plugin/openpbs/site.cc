#include "server_plugin/openpbs/site.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "ifl/attributes/attribute_table.h"
#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/owned.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

using cluster::number_of;
using cluster::value_of;

// Resources that are durations, although OpenPBS gives them the type of integers.
constexpr std::array kDurations{"walltime",     "cput",         "pcput",        "soft_walltime",
                                "min_walltime", "max_walltime", "eligible_time"};

// Translates OpenPBS's number of a resource's type into enum pbs_resource_kind.
int kind_of(std::string_view name, std::int64_t type) {
    if (std::ranges::find(kDurations, name) != kDurations.end()) return PBS_RES_DURATION;
    switch (type) {
        case 3:
            return PBS_RES_STRING;
        case 4:
            return PBS_RES_STRING_ARRAY;
        case 5:
            return PBS_RES_SIZE;
        case 11:
            return PBS_RES_BOOLEAN;
        case 14:
            return PBS_RES_FLOAT;
        default:
            return PBS_RES_LONG;
    }
}

// OpenPBS's flags of consumable resources: "n", "f" and "q".
constexpr std::int64_t kConsumable = 0x4000 | 0x8000 | 0x10000;
// OpenPBS's flag "h": a resource of vnodes.
constexpr std::int64_t kHostLevel = 0x20000;

ifl::Result<void> ask(ifl::Connection& connection, ifl::RequestType type, std::string_view extend,
                      const std::function<void(const ifl::ObjectView&)>& take) {
    const auto lock = connection.lock();
    const auto reply = connection.request(type, ifl::Status{}, extend, take);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code == 0) return {};
    const auto* text = std::get_if<ifl::TextReply>(&reply->body);
    return tl::unexpected(ifl::Error{reply->code, text != nullptr ? text->text : "the server refuses"});
}

}  // namespace

void keep_execution_types(const std::map<std::string, Queue>& before, std::map<std::string, Queue>& after) {
    for (auto& [name, queue] : after)
        if (const auto known = before.find(name); known != before.end())
            queue.execution_type = known->second.execution_type;
}

Sched sched_of(const ifl::ObjectView& object) {
    const auto value = [&](std::string_view name) { return std::string(value_of(object.attributes, name)); };
    Sched one;
    cluster::read_sched(one, object.attributes);
    one.host = value("sched_host");
    one.sched_log = value("sched_log");
    one.preempt_order = value("preempt_order");
    one.job_run_wait = value("job_run_wait");
    one.attr_update_period = number_of(value("attr_update_period"), 0);
    for (const NotActedOn& other : kNotActedOn)
        if (other.object_type == PBS_OBJ_SCHED && !value(other.name).empty())
            one.not_acted_on.emplace_back(other.name);
    for (const ifl::AttributeDef& def : ifl::sched_table().all())
        if (std::string text = value(def.name); def.has(ifl::of_policies) && !text.empty())
            one.settings.emplace(def.name, std::move(text));
    return one;
}

void note_resource(std::map<std::string, ResourceDefinition>& resources, const ifl::ObjectView& object) {
    if (object.name.empty() || object.name.front() == '|') return;
    const std::int64_t flags = number_of(value_of(object.attributes, "flag"), 0);
    resources[std::string(object.name)] = {
        kind_of(object.name, number_of(value_of(object.attributes, "type"), 0)), (flags & kConsumable) != 0,
        (flags & kHostLevel) != 0};
}

// Reads a vnode. No scheduler changes a vnode's environment (aoe, eoe). So the vnode offers only its current
// environment, if it has one.
Vnode vnode_of(const ifl::ObjectView& object) {
    Vnode vnode = cluster::vnode_of(object.attributes);
    for (const auto& [resource, current] : {std::pair("aoe", "current_aoe"), std::pair("eoe", "current_eoe")})
        vnode.available.insert_or_assign(resource, std::string(value_of(object.attributes, current)));
    return vnode;
}

void follow_other_vnodes(Site& site) {
    constexpr int kMostSteps = 10;  // as many as pbs_sched follows
    const auto follow = [&](std::string_view resource, std::string_view value) -> std::string_view {
        for (int i = 0; i < kMostSteps && value.starts_with('@'); ++i) {
            const auto other = site.vnodes.find(std::string(value.substr(1)));
            value = other == site.vnodes.end() ? std::string_view()
                                               : cluster::value_in(other->second.available, resource);
        }
        return value.starts_with('@') ? std::string_view() : value;
    };
    std::size_t shared = 0;
    std::string first;
    for (auto& [name, vnode] : site.vnodes)
        for (auto at = vnode.available.begin(); at != vnode.available.end();) {
            const auto resource = site.resources.find(at->first);
            const bool here = !at->second.starts_with('@');
            if (here || resource == site.resources.end()) {
                ++at;
            } else if (resource->second.consumable) {
                if (shared++ == 0)
                    first = fmt::format("vnode {}: resources_available.{} = {}", name, at->first, at->second);
                (at++)->second = "0";
            } else if (const std::string value(follow(at->first, at->second)); value.empty()) {
                at = vnode.available.erase(at);
            } else {
                (at++)->second = value;
            }
        }
    site.shared_amounts.clear();
    if (shared > 0)
        site.shared_amounts =
            fmt::format("{}{} counts as 0: vnodes can't share an amount that jobs consume", first,
                        shared == 1 ? "" : fmt::format(" (and {} more)", shared - 1));
}

ifl::Result<ServerPlace> find_server() {
    // Take PBS_HOME from pbs.conf only: the environment may have the home of a bundled server.
    const auto settings = ifl::load_settings([](const char* name) -> std::string {
        return std::string_view(name) == "PBS_HOME" ? std::string() : ifl::process_environment()(name);
    });
    if (!settings) return tl::unexpected(settings.error());
    const auto address = ifl::server_address(is_secondary() ? settings->secondary : std::string(), *settings);
    if (!address) return tl::unexpected(address.error());
    return ServerPlace{*settings, *address};
}

std::string objection_to_type(const Site& site, const ifl::Manage& body) {
    if (body.object_type != PBS_OBJ_QUEUE || body.command != PBS_CMD_SET) return {};
    const auto queue = site.queues.find(body.object);
    const auto type = std::ranges::find_if(body.attributes, [](const ifl::Attribute& one) {
        return values::same_word(one.name, "execution_type");
    });
    if (queue == site.queues.end() || type == body.attributes.end() || type->value.empty()) return {};
    const bool route = values::same_word(type->value, "route");
    if (route ? !queue->second.execution : !queue->second.route) return {};
    return fmt::format("Illegal execution_type \"{}\" for queue {} of queue_type {}", type->value,
                       body.object, route ? "Execution" : "Route");
}

ifl::Result<Site> ask_site() {
    const auto place = find_server();
    if (!place) return tl::unexpected(place.error());
    auto connection = ifl::Connection::open(place->address, place->settings, {});
    if (!connection) return tl::unexpected(connection.error());
    Site site;
    ifl::Connection& client = **connection;
    using Type = ifl::RequestType;
    ifl::Result<void> done = ask(client, Type::status_server, {}, [&](const ifl::ObjectView& object) {
        site.server = cluster::server_of(object.name, object.attributes);
    });
    if (done)
        done = ask(client, Type::status_queue, {}, [&](const ifl::ObjectView& object) {
            site.queues[std::string(object.name)] = cluster::queue_of(object.attributes);
        });
    if (done)
        done = ask(client, Type::status_scheduler, {}, [&](const ifl::ObjectView& object) {
            site.scheds[std::string(object.name)] = sched_of(object);
        });
    if (done)
        done = ask(client, Type::status_resource, kResourceExtend,
                   [&](const ifl::ObjectView& object) { note_resource(site.resources, object); });
    if (!done) return tl::unexpected(done.error());
    return site;
}

}  // namespace pbs::openpbs
