// Variable_List, the environment that a job takes along: "NAME=value,NAME=value". In names and values, a
// comma, a quote (' or ") and a backslash have a backslash before them. A backslash before any other
// character stands for itself. Other bytes, such as line breaks, stand as they are. OpenPBS's server reads
// and writes the same form, but loses blanks at the end of a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::text {

using Variable = std::pair<std::string, std::string>;  // name and value

// Returns whether the character needs a backslash in a Variable_List: a comma, a quote or a backslash.
bool is_escaped_in_variables(char c);

// Adds NAME=value to the list.
void append_variable(std::string& list, std::string_view name, std::string_view value);
std::string variable_list(const std::vector<Variable>& variables);

// The variables in their order. A name may come several times: its last value is the one that counts. Blanks
// before a name are dropped, and an entry without '=' is a variable with an empty value.
std::vector<Variable> parse_variables(std::string_view list);

// The value of the first variable of that name; the name must need no backslash. Decodes no other entry,
// since the lists of thousands of jobs are searched for one name.
std::optional<std::string> find_variable(std::string_view list, std::string_view name);

}  // namespace pbs::text
