// Does the common work of qenable, qdisable, qstart and qstop: they set an attribute of queues.
#pragma once

#include <string>
#include <vector>

namespace pbs::cmds {

// Sets `attribute` of each queue in the arguments: "queue", "queue@server", or "@server" for all queues
// there. Returns the exit status, as PBS's commands do: 1 for a wrong command line or destination, 2 if a
// server refuses or can't be reached.
int switch_queues(const char* program, const std::vector<std::string>& arguments, const char* attribute,
                  bool on);

}  // namespace pbs::cmds
