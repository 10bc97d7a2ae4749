// Formats status lists as qmgr's list and print show them. Does no input or output.
#pragma once

#include <string>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// Appends the text for people of one object, the first in the list `object`, with one attribute a line:
//
//   Queue workq
//       queue_type = Execution
//       total_jobs = 0
//
// Long values continue on lines that begin with a tab, broken at commas.
void append_list_text(std::string& text, ObjectType type, const batch_status& object);

// The attributes that the objects in a list have: all of them, or only those that were asked for.
enum class PrintScope { whole, some };

// The directives that make the objects again: `create`, and one `set` for each attribute that may be set,
// with `+=` for further elements of a list. Attributes that can't be set are left out. A value that new
// objects have by themselves, but this one doesn't, is unset. The default scheduler and default_policy, which
// always exist, get no `create`.
std::string print_text(ObjectType type, const batch_status* objects, PrintScope scope = PrintScope::whole);

// The first resource of the site; null if there is none. Servers report PBS's own resources, then an entry
// "|unknown|", then the site's. If the entry is missing, all count as the site's.
const batch_status* custom_resources(const batch_status* resources);

// A resource's type in words, such as "long" or "string_array", for the number that the server reports.
std::string resource_type_text(std::string_view value);
// A resource's flags in letters, such as "nh", for the number that the server reports.
std::string resource_flag_text(std::string_view value);

}  // namespace pbs::cmds
