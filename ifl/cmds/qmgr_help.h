// The texts of qmgr's help command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::cmds {

// Help on a topic: a command, an object type (its attributes), "<type> <attribute>[.<resource>]",
// "operators", "values" or "names"; an empty topic: the overview. A topic without help gets a text that says
// so.
std::string help_text(std::string_view topic);

// The topics of help: commands, object types and the rest; for completion.
std::vector<std::string> help_topics();

}  // namespace pbs::cmds
