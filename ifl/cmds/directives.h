// Finds the directives in job scripts: lines such as "#PBS -l ncpus=2".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::cmds {

struct ScriptDirective {
    std::size_t line = 0;  // counted from 1
    std::string options;   // the text after the prefix
};

// The directives of a script, up to the first line that isn't blank, a comment, "#!" or ":". A line that ends
// with a backslash continues on the next. An empty prefix means no directives.
std::vector<ScriptDirective> find_directives(std::string_view script, std::string_view prefix);

// The encoding whose byte order mark the script begins with, such as "UTF-8"; empty: there is no mark. After
// a mark the first line is no comment, so there are no directives.
std::string_view byte_order_mark(std::string_view script);

}  // namespace pbs::cmds
