#include "server_plugin/openpbs/site.h"

#include <strings.h>

#include <charconv>
#include <functional>
#include <string_view>

#include "ifl/pbs_error.h"
#include "ifl/settings.h"
#include "server_plugin/openpbs/conf.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {
namespace {

std::int64_t number(std::string_view text, std::int64_t otherwise) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

bool truth(std::string_view text) {
    return text == "True" || text == "1";
}

// The value of an attribute, or an empty string.
std::string_view value_of(const ifl::ObjectView& object, std::string_view name) {
    for (const ifl::AttributeView& attribute : object.attributes)
        if (attribute.name == name && attribute.resource.empty()) return attribute.value;
    return {};
}

// OpenPBS's numbers of types, as it describes resources with them.
int kind_of(std::int64_t type) {
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

// OpenPBS's flags of a resource whose amounts are used up: "n", "f" and "q".
constexpr std::int64_t kConsumable = 0x4000 | 0x8000 | 0x10000;

ifl::Result<void> ask(ifl::Connection& connection, ifl::RequestType type,
                      const std::function<void(const ifl::ObjectView&)>& take) {
    const auto lock = connection.lock();
    const auto reply = connection.request(type, ifl::Status{}, {}, take);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code == 0) return {};
    const auto* text = std::get_if<ifl::TextReply>(&reply->body);
    return tl::unexpected(ifl::Error{reply->code, text != nullptr ? text->text : "the server refuses"});
}

}  // namespace

ifl::Result<Site> ask_site() {
    // What pbs.conf names, not a server of ours whose home is in the environment.
    const auto settings = ifl::load_settings([](const char* name) -> std::string {
        return std::string_view(name) == "PBS_HOME" ? std::string() : ifl::process_environment()(name);
    });
    if (!settings) return tl::unexpected(settings.error());
    const auto address = ifl::server_address(is_secondary() ? settings->secondary : std::string(), *settings);
    if (!address) return tl::unexpected(address.error());
    auto connection = ifl::Connection::open(*address, *settings, {});
    if (!connection) return tl::unexpected(connection.error());
    Site site;
    const auto server = [&](const ifl::ObjectView& object) {
        site.server = {std::string(object.name), std::string(value_of(object, "server_host")),
                       number(value_of(object, "backfill_depth"), -1),
                       std::string(value_of(object, "job_sort_formula"))};
    };
    const auto queue = [&](const ifl::ObjectView& object) {
        SiteQueue& one = site.queues[std::string(object.name)];
        one.execution = value_of(object, "queue_type") == "Execution";
        one.started = truth(value_of(object, "started"));
        one.enabled = truth(value_of(object, "enabled"));
        one.priority = static_cast<std::int32_t>(number(value_of(object, "Priority"), 0));
        one.backfill_depth = number(value_of(object, "backfill_depth"), -1);
        one.partition = value_of(object, "partition");
    };
    const auto sched = [&](const ifl::ObjectView& object) {
        const std::string_view partition = value_of(object, "partition");
        // What OpenPBS calls the partition of `default`.
        site.scheds[std::string(object.name)] = {
            truth(value_of(object, "scheduling")),
            partition == "pbs-default" ? std::string() : std::string(partition),
            std::string(value_of(object, "sched_priv"))};
    };
    const auto resource = [&](const ifl::ObjectView& object) {
        const std::int64_t flags = number(value_of(object, "flag"), 0);
        site.resources[std::string(object.name)] = {kind_of(number(value_of(object, "type"), 0)),
                                                    (flags & kConsumable) != 0};
    };
    ifl::Connection& client = **connection;
    ifl::Result<void> done = ask(client, ifl::RequestType::status_server, server);
    if (done) done = ask(client, ifl::RequestType::status_queue, queue);
    if (done) done = ask(client, ifl::RequestType::status_scheduler, sched);
    if (done) done = ask(client, ifl::RequestType::status_resource, resource);
    if (!done) return tl::unexpected(done.error());
    return site;
}

}  // namespace pbs::openpbs
