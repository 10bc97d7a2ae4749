// Executes commands on a draft, in memory only: store.cc writes the result and the history.
#pragma once

#include <optional>
#include <string_view>

#include "objects/check.h"
#include "objects/commands.h"
#include "objects/draft.h"

namespace pbs::objects {

// The policy that every store has and that can't be deleted.
inline constexpr std::string_view kDefaultPolicy = "default_policy";

// Executes one command on the draft. After an error the caller discards the draft or reverts it to its mark.
Result<void> execute_on(Draft& draft, const Command& command, const CheckContext& context);

// Returns the value that an operation gives to an attribute; nullopt: the attribute gets unset. `before` is
// null if the attribute isn't set. Checks syntax and meaning; check_references() checks that the objects that
// the value names exist.
Result<std::optional<Value>> new_value(const Attribute& attribute, const Value* before,
                                       const AttributeChange& change, Operation operation,
                                       const CheckContext& context);

// Returns the error with the object's title in front, unless the message names the object already.
Error in_object(Error error, ObjectType type, std::string_view name);

}  // namespace pbs::objects
