// Completion of what is being typed at qmgr's prompt.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// The names that objects of a type have at the server. Of resources: all that there are, PBS's too.
using ObjectNames = std::function<std::vector<std::string>(ObjectType)>;

struct Completion {
    std::size_t begin = 0;                // where in the line the word being completed begins
    std::vector<std::string> candidates;  // sorted; what the word may become
};

// What the last word of `line` (the text left of the cursor) may become: a command, an object type, the name
// of an object, an attribute or its resource, an operator, a value or element of a value, or a topic of help.
// The cursor is in the last of the directives that semicolons part.
Completion complete(std::string_view line, const ObjectNames& object_names);

}  // namespace pbs::cmds
