// Makes the warnings about one changed object: about settings that never have an effect (unsupported.h), and
// about settings that have none because of other objects.
#pragma once

#include <string>
#include <vector>

#include "objects/unsupported.h"

namespace pbs::objects {

struct Command;
class Draft;
class Object;

// Returns a note on each order of the policy's jobs, such as weighted_priority, before which another order
// goes, such as by_queue.
std::vector<std::string> orders_behind(const Object& policy);

// Adds the warnings to `lines`. `draft`: all objects after the change. `before`, `after`: the changed object;
// null: it doesn't exist. `command`: the command that made the change, which has warnings for what it names
// though it has changed nothing; null: the change isn't one command's, as in a rollback.
void add_change_warnings(const Draft& draft, const Object* before, const Object* after,
                         const Command* command, ServerAbilities abilities, std::vector<std::string>& lines);

}  // namespace pbs::objects
