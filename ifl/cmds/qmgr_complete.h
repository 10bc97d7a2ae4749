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
// A function that returns the names of an attribute's elements, such as those of a quota's rules.
using ElementNames = std::function<std::vector<std::string>(ObjectType type, const std::string& object,
                                                            const std::string& attribute)>;

// The names for which the completion asks the server.
struct NamesAtServer {
    ObjectNames objects;
    ElementNames elements;
    std::function<std::vector<std::string>()> numbers;  // the resources whose values are numbers
};

struct Completion {
    std::size_t begin = 0;                // place in the line where the word being completed begins
    std::vector<std::string> candidates;  // the words that it may become, sorted
};

// The completions of the last word of `line` (the text left of the cursor): a command, an object type, the
// name of an object, an attribute, its resource or its element, an operator, a value or element of a value,
// or a topic of help. Only the last of the directives separated by semicolons counts.
Completion complete(std::string_view line, const NamesAtServer& names);

}  // namespace pbs::cmds
