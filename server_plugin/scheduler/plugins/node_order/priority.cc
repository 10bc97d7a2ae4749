// Orders vnodes by their Priority, the highest first.

#include "server_plugin/scheduler/framework/node_order.h"

namespace pbs::sched {

extern const NodeOrder kPriorityOrder;
const NodeOrder kPriorityOrder{
    .name = "priority",
    .keys =
        [](const Settings&, const Resources&) {
            return NodeKeys{{kNoResource, true}};
        },
};

}  // namespace pbs::sched
