// What qenable, qdisable, qstart and qstop do: they set an attribute of queues.
#pragma once

#include <string>
#include <vector>

namespace pbs::cmds {

// Sets `attribute` of each queue that the arguments name, "queue", "queue@server", or "@server" for all
// queues there. The result is the exit status, as PBS's commands have it: 1 for a wrong command line or
// destination, 2 for what a server refuses or a server that can't be reached.
int switch_queues(const char* program, const std::vector<std::string>& arguments, const char* attribute,
                  bool on);

}  // namespace pbs::cmds
