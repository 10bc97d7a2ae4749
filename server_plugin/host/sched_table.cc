#include <array>

#include "server_plugin/host/attributes.h"

namespace pbs::host {
namespace {

// `policy` and the policy's state are the plugin's attributes.
constexpr std::array rows = {
    AttributeDef{"sched_host", Type::text, read_only | computed},
    AttributeDef{"partition", Type::text, manager_only_set},
    AttributeDef{"sched_priv", Type::text, manager_only_set},
    AttributeDef{"sched_log", Type::text, manager_only_set},
    AttributeDef{"scheduling", Type::boolean, manager_only_set},
    AttributeDef{"scheduler_iteration", Type::integer, manager_only_set},
    AttributeDef{"comment", Type::text, manager_only_set},
    AttributeDef{"state", Type::text, read_only | computed},
};

}  // namespace

const AttributeTable& sched_table() {
    static const AttributeTable table{rows};
    return table;
}

}  // namespace pbs::host
