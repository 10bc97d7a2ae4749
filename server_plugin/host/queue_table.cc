#include <array>

#include "server_plugin/host/attributes.h"

namespace pbs::host {
namespace {

constexpr std::array rows = {
    AttributeDef{"queue_type", Type::text, no_user_set},
    AttributeDef{"execution_type", Type::text, no_user_set},
    AttributeDef{"Priority", Type::integer, no_user_set},
    AttributeDef{"max_queuable", Type::integer, no_user_set},
    AttributeDef{"max_array_size", Type::integer, no_user_set},
    AttributeDef{"total_jobs", Type::integer, read_only | computed},
    AttributeDef{"state_count", Type::text, read_only | computed},
    AttributeDef{"max_running", Type::integer, no_user_set},
    AttributeDef{"acl_host_enable", Type::boolean, no_user_set},
    AttributeDef{"acl_hosts", Type::acl, no_user_set},
    AttributeDef{"acl_user_enable", Type::boolean, no_user_set},
    AttributeDef{"acl_users", Type::acl, no_user_set},
    AttributeDef{"from_route_only", Type::boolean, manager_only_set},
    AttributeDef{"resources_max", Type::resources, no_user_set},
    AttributeDef{"resources_min", Type::resources, no_user_set},
    AttributeDef{"resources_default", Type::resources, no_user_set},
    AttributeDef{"comment", Type::text, no_user_set},
    AttributeDef{"acl_group_enable", Type::boolean, no_user_set},
    AttributeDef{"acl_groups", Type::acl, no_user_set},
    AttributeDef{"default_chunk", Type::resources, no_user_set},
    AttributeDef{"resources_available", Type::resources, no_user_set},
    AttributeDef{"resources_assigned", Type::resources, read_only | computed},
    AttributeDef{"kill_delay", Type::duration, no_user_set},
    AttributeDef{"max_user_run", Type::integer, no_user_set},
    AttributeDef{"max_group_run", Type::integer, no_user_set},
    AttributeDef{"hasnodes", Type::boolean, read_only | computed},
    AttributeDef{"backfill_depth", Type::integer, no_user_set},
    AttributeDef{"route_destinations", Type::list, manager_only_set},
    AttributeDef{"route_held_jobs", Type::boolean, no_user_set},
    AttributeDef{"route_waiting_jobs", Type::boolean, no_user_set},
    AttributeDef{"route_retry_time", Type::integer, no_user_set},
    AttributeDef{"route_lifetime", Type::integer, no_user_set},
    AttributeDef{"enabled", Type::boolean, no_user_set},
    AttributeDef{"started", Type::boolean, no_user_set},
    AttributeDef{"partition", Type::text, manager_only_set},
};

}  // namespace

const AttributeTable& queue_table() {
    static const AttributeTable table{rows};
    return table;
}

}  // namespace pbs::host
