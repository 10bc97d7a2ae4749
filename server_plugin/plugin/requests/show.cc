#include "server_plugin/plugin/requests/show.h"

#include <algorithm>
#include <array>

#include "objects/commands.h"
#include "values/utc.h"

namespace pbs::plugin {
namespace {

constexpr std::array<std::string_view, 8> kSchedShown{
    "sched_config",       "active_policy",       "prime_time",      "dedicated_time",
    "next_policy_change", "configuration_error", "migration_error", "unsupported_settings"};

// Attributes of the server for programs that compute a calendar: the zone of floating times in windows, and
// the server's clock.
constexpr std::string_view kZone = "time_zone";
constexpr std::string_view kClock = "server_time";

}  // namespace

bool is_shown_only(objects::ObjectType type, std::string_view attribute) {
    if (type == objects::ObjectType::server) return attribute == kZone || attribute == kClock;
    return type == objects::ObjectType::sched &&
           std::find(kSchedShown.begin(), kSchedShown.end(), attribute) != kSchedShown.end();
}

void show_kept(State& state, objects::ObjectType type, std::string_view name, Reply& reply) {
    const auto described = objects::status(*state.store->snapshot(), type, name, {});
    if (!described) return;
    for (const objects::ObjectStatus& object : *described) {
        for (const objects::AttributeStatus& attribute : object.attributes) {
            reply.attribute({attribute.attribute->name, attribute.value, {}});
        }
    }
}

void status_attrs(State& state, sched::Instant now, int32_t object_type, std::string_view name, Reply reply) {
    if (!state.store) return;
    const auto type = static_cast<objects::ObjectType>(object_type);
    switch (type) {
        case objects::ObjectType::server:
            show_kept(state, type, name, reply);
            reply.attribute({kZone, state.zone.name(), {}});
            reply.attribute({kClock, values::utc_text(now), {}});
            break;
        case objects::ObjectType::queue:
            show_kept(state, type, name, reply);
            break;
        case objects::ObjectType::sched:
            show_kept(state, type, name, reply);
            show_sched(state, now, name, reply);
            break;
        default:
            break;
    }
}

}  // namespace pbs::plugin
