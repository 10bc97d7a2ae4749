// Completes the text at qmgr's prompt.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// A function that returns the names of a type's objects at the server; for resources all names, PBS's own
// too.
using ObjectNames = std::function<std::vector<std::string>(ObjectType)>;

struct Completion {
    std::size_t begin = 0;                // place in the line where the word being completed begins
    std::vector<std::string> candidates;  // the words that it may become, sorted
};

// The completions of the last word of `line` (the text left of the cursor): a command, an object type, the
// name of an object, an attribute or its resource, an operator, a value or element of a value, or a topic of
// help. Only the last of the directives separated by semicolons counts.
Completion complete(std::string_view line, const ObjectNames& object_names);

}  // namespace pbs::cmds
