// Variable_List, the environment that a job takes along: "NAME=value,NAME=value". Each comma, quote (' or ")
// and backslash of a name or value has a backslash before it; a backslash before any other character is one
// itself. Other bytes stand as they are, line breaks too. OpenPBS's server reads and writes the same form,
// but loses blanks at the end of a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::text {

using Variable = std::pair<std::string, std::string>;  // name and value

// The characters of a value that have a backslash before them.
bool is_escaped_in_variables(char c);

// Adds NAME=value to the list.
void append_variable(std::string& list, std::string_view name, std::string_view value);
std::string variable_list(const std::vector<Variable>& variables);

// The variables in their order; of a name that comes again, the last one counts. Blanks before a name aren't
// part of it, and an entry without '=' is a variable with an empty value.
std::vector<Variable> parse_variables(std::string_view list);

// The value of the first variable of the name, which has none of the characters above. Takes apart nothing
// else, since lists of thousands of jobs are asked for one name.
std::optional<std::string> find_variable(std::string_view list, std::string_view name);

}  // namespace pbs::text
