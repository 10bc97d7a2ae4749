// Reads the print of an older server by qmgr: the output of `qmgr -c "print server"`, of "print node
// @default", "print sched", "print resource" and "print hook", or of several of these.
//
// Format: directives as in qmgr of pbspolicy (ifl/cmds/qmgr_grammar.h), with abbreviations, comments, quoted
// values, a backslash at the end of a line that goes on in the next one, several directives on a line, and
// active objects. The contents of a hook, lines of base64 below `import hook NAME TYPE base64 -`, are
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

// An attribute of the older server or its scheduler `default` that becomes an attribute of policies.
struct PrintedSetting {
    std::string_view attribute;  // name of the policy's attribute
    std::string_view printed;    // attribute's name in the print
    std::string value;
    int line = 0;
};

// A command that creates or deletes one object, or sets one attribute of one object.
struct PrintedCommand {
    objects::Command command;  // at most one change; its name is "attribute" or "attribute.resource"
    int line = 0;
    std::string file{};  // file of the command; empty: the print itself
};

struct QmgrPrint {
    std::string file;
    std::vector<PrintedQueue> queues;         // in the order of the file
    std::vector<std::string> consumables;     // resources with a flag that makes them consumable
    std::vector<std::string> others;          // the other resources
    std::vector<std::string> vnode_booleans;  // those of `others` that are booleans of vnodes (flag h)
    std::vector<PrintedSetting> settings;     // each attribute once
    // Commands for the server to carry out, in the order of the file. Commands that become parts of policies
    // are missing: those for `settings`, and those that set a queue's execution_type.
    std::vector<PrintedCommand> commands;
    // A line, with the reason, for each directive that can't be carried over or that has another effect on
    // this server.
    std::vector<std::string> notes;
    Problems mistakes;  // directives that qmgr doesn't understand; left out

    const PrintedSetting* setting(std::string_view attribute) const;
    // Returns whether the print creates this resource.
    bool makes(std::string_view resource) const;
};

// Returns whether a resource's flag makes it consumable. n: on vnodes, f: on the first vnode, q: on queues
// and the server.
bool uses_up(std::string_view flag);

// Reads the text of a file; `file` is its name in messages.
QmgrPrint parse_qmgr_print(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
