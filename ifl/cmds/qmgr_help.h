// Makes the texts of qmgr's help command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::cmds {

// Returns help on a topic: a command, an object type (its attributes), "<type> <attribute>[.<resource>]",
// "operators", "values" or "names"; an empty topic: the overview. A topic without help gets a text that says
// so.
std::string help_text(std::string_view topic);

// The topics of help, for completion: commands, object types, and "operators", "values" and "names".
std::vector<std::string> help_topics();

}  // namespace pbs::cmds
