// Names in values of what lives in the server rather than in the store: queues and resources.
#ifndef PBSPOLICY_OBJECTS_NAMES_IN_USE_H
#define PBSPOLICY_OBJECTS_NAMES_IN_USE_H

#include <string_view>

#include "objects/check.h"

namespace pbs::objects {

// Do the queues and resources exist that `value` names and `before` (null: nothing was set) didn't? What was
// named before stays, whatever became of it. Errors: bad_value, naming attribute, element, and what isn't
// there; with context.warnings they are put there instead.
Result<void> check_names(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context);

enum class NameKind { queue, resource };

// Does no policy and no fs_group name this queue or resource, so that it can go? queue@host names `queue`.
// Errors: busy, naming what refers to it.
Result<void> check_unnamed(const Draft& draft, NameKind kind, std::string_view name);

}  // namespace pbs::objects

#endif
