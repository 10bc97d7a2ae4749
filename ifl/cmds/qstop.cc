// qstop: keeps jobs of queues from starting.

#include "ifl/cmds/client.h"
#include "ifl/cmds/queue_switch.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    return switch_queues("qstop", arguments_of(argc, argv), "started", false);
}
