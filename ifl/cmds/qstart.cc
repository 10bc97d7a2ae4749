// qstart: lets jobs of queues start.

#include "ifl/cmds/client.h"
#include "ifl/cmds/queue_switch.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    return switch_queues("qstart", arguments_of(argc, argv), "started", true);
}
