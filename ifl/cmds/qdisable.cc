// qdisable: keeps jobs out of queues.

#include "ifl/cmds/client.h"
#include "ifl/cmds/queue_switch.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    return switch_queues("qdisable", arguments_of(argc, argv), "enabled", false);
}
