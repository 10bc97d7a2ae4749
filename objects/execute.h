// Execution of commands on a draft, in memory only: store.cc writes the result and the history.
#pragma once

#include <optional>
#include <string_view>

#include "objects/check.h"
#include "objects/commands.h"
#include "objects/draft.h"

namespace pbs::objects {

// The policy that can't be deleted.
inline constexpr std::string_view kDefaultPolicy = "default_policy";

// Executes one command on the draft. After an error the caller throws the draft away or reverts it to its
// mark.
Result<void> execute_on(Draft& draft, const Command& command, const CheckContext& context);

// The value that an operation gives to one attribute; nullopt: the attribute gets unset. `before` is null for
// an attribute that isn't set. Checks syntax and meaning; check_references() checks whether the objects that
// the value names exist.
Result<std::optional<Value>> new_value(const Attribute& attribute, const Value* before,
                                       const AttributeChange& change, Operation operation,
                                       const CheckContext& context);

// The error with the object's title in front, unless the message names the object already.
Error in_object(Error error, ObjectType type, std::string_view name);

}  // namespace pbs::objects
