// What a command does to a draft. No disk, no history: store.cc writes what comes of it.
#pragma once

#include <optional>
#include <string_view>

#include "objects/check.h"
#include "objects/commands.h"
#include "objects/draft.h"

namespace pbs::objects {

// The policy that always exists.
inline constexpr std::string_view kDefaultPolicy = "default_policy";

// Executes one command on the draft. On an error the draft is to be thrown away, or taken back to
// its mark.
Result<void> execute_on(Draft& draft, const Command& command, const CheckContext& context);

// The value that one attribute gets by an operation; `before` may be null: not set. nullopt: none, it is
// unset. Checked by form and by meaning, not for what it refers to.
Result<std::optional<Value>> new_value(const Attribute& attribute, const Value* before,
                                       const AttributeChange& change, Operation operation,
                                       const CheckContext& context);

// The error with its object in front, unless its text names that already.
Error in_object(Error error, ObjectType type, std::string_view name);

}  // namespace pbs::objects
