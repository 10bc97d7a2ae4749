// By the vnodes' Priority, the highest first.

#include "server_plugin/scheduler/framework/node_order.h"

namespace pbs::sched {

extern const NodeOrder priority_order;
const NodeOrder priority_order{
    .name = "priority",
    .keys =
        [](const Settings&, const Resources&) {
            return NodeKeys{{no_resource, true}};
        },
};

}  // namespace pbs::sched
