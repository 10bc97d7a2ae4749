// What qmgr's list and print write of objects. Pure: from status lists to text.
#pragma once

#include <string>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// The objects with one attribute a line, for reading:
//
//   Queue workq
//       queue_type = Execution
//       total_jobs = 0
//
// Long values continue on lines that begin with a tab, broken at commas.
std::string list_text(ObjectType type, const batch_status* objects);
// The same of one object, whatever follows it, at the end of `text`.
void append_list_text(std::string& text, ObjectType type, const batch_status& object);

// Are all attributes of the objects in the list, or only some that were asked for?
enum class PrintScope { whole, some };

// The directives that make the objects again: `create` and one `set` an attribute that may be set, `+=` for
// further elements of a list. What can't be set is left out. What a new object has of itself and one of these
// hasn't is unset. The default scheduler and default_policy, which always exist, have no `create`.
std::string print_text(ObjectType type, const batch_status* objects, PrintScope scope = PrintScope::whole);

// Resources as the server reports them: PBS's own, then an entry "|unknown|", then those that the site made.
// The first of the site's; null if there are none. Where that entry is missing, all count as the site's.
const batch_status* custom_resources(const batch_status* resources);

// "long", "string_array", ...: a resource's type, which the server gives as a number.
std::string resource_type_text(std::string_view value);
// "nh" of the number that the server gives for a resource's flags.
std::string resource_flag_text(std::string_view value);

}  // namespace pbs::cmds
