// What qmgr printed of an older server: `qmgr -c "print server"`, and, behind it or alone, "print node
// @default", "print sched", "print resource" and "print hook".
//
// Format: directives of qmgr as ours takes them (ifl/cmds/qmgr_grammar.h): abbreviations, comments, quoted
// values, a backslash at the end of a line that goes on in the next one, several directives on a line, active
// objects. Of a hook's contents, which stand below `import hook NAME TYPE base64 -`, the lines of base64 are
// skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"
#include "objects/commands.h"

namespace pbs::migrate {

struct PrintedQueue {
    std::string name;
    bool route = false;          // queue_type Route
    std::string execution_type;  // execution_prime, execution_non_prime or execution_dedicated, or empty
    int line = 0;
};

// What the server or the scheduler `default` had, and a policy has now.
struct PrintedSetting {
    std::string_view attribute;  // of a policy
    std::string_view printed;    // its name in the print
    std::string value;
    int line = 0;
};

// One object's creation or deletion, or one attribute of one object.
struct PrintedCommand {
    objects::Command command;  // with no change, or one, whose name is "attribute" or "attribute.resource"
    int line = 0;
    std::string file{};  // where it is from; empty: from the print that it is with
};

struct QmgrPrint {
    std::string file;
    std::vector<PrintedQueue> queues;         // in the order of the file
    std::vector<std::string> consumables;     // resources whose flag says that jobs use them up
    std::vector<std::string> others;          // resources whose flag doesn't say so
    std::vector<std::string> vnode_booleans;  // of these, booleans of vnodes (flag h)
    std::vector<PrintedSetting> settings;     // each attribute once
    // For the server to carry out, in the order of the file: what a directive of the old server means for
    // this one. Not in it is what has a place among the policies: the settings above, and queues'
    // execution_type.
    std::vector<PrintedCommand> commands;
    // A line for each directive that can't be carried over, or that becomes another one here, with the
    // reason.
    std::vector<std::string> notes;
    Problems mistakes;  // directives that qmgr doesn't understand: they are left out

    const PrintedSetting* setting(std::string_view attribute) const;
    // Does it define this resource?
    bool makes(std::string_view resource) const;
};

// Does the flag of a resource say that jobs use it up? n: of vnodes, f: of the first vnode, q: of queues and
// the server.
bool uses_up(std::string_view flag);

// Reads the text of a file; `file` is its name in messages.
QmgrPrint parse_qmgr_print(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
