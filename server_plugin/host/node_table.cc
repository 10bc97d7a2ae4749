#include <array>

#include "server_plugin/host/attributes.h"

namespace pbs::host {
namespace {

constexpr std::array rows = {
    AttributeDef{"Mom", Type::text, manager_only_set},
    AttributeDef{"pbs_version", Type::text, read_operator | read_manager | computed},
    AttributeDef{"ntype", Type::text, read_only | computed},
    AttributeDef{"state", Type::text, no_user_set},
    AttributeDef{"pcpus", Type::integer, read_only | computed},
    AttributeDef{"Priority", Type::integer, no_user_set},
    AttributeDef{"jobs", Type::text, read_only | computed},
    AttributeDef{"resources_available", Type::resources, no_user_set},
    AttributeDef{"resources_assigned", Type::resources, read_only | computed},
    AttributeDef{"queue", Type::text, manager_only_set},
    AttributeDef{"comment", Type::text, no_user_set},
    AttributeDef{"sharing", Type::text, read_only | computed},
    AttributeDef{"partition", Type::text, read_operator | read_manager | write_operator | write_manager},
    AttributeDef{"last_state_change_time", Type::integer, read_only | computed},
    AttributeDef{"last_used_time", Type::integer, read_only | computed},
};

}  // namespace

const AttributeTable& node_table() {
    static const AttributeTable table{rows};
    return table;
}

}  // namespace pbs::host
