// The texts of qmgr's help command.
#ifndef PBSPOLICY_IFL_CMDS_QMGR_HELP_H
#define PBSPOLICY_IFL_CMDS_QMGR_HELP_H

#include <string>
#include <string_view>

namespace pbs::cmds {

// Help on a topic: a command, an object type (its attributes), "<type> <attribute>", "operators", "values" or
// "names"; on everything when it's empty. A topic without help says so.
std::string help_text(std::string_view topic);

}  // namespace pbs::cmds

#endif
