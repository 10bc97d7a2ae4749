// What a command does to a draft. No disk, no history: store.cc writes what comes of it.
#ifndef PBSPOLICY_OBJECTS_EXECUTE_H
#define PBSPOLICY_OBJECTS_EXECUTE_H

#include "objects/check.h"
#include "objects/commands.h"
#include "objects/draft.h"

namespace pbs::objects {

// The policy that always exists.
inline constexpr std::string_view kDefaultPolicy = "default_policy";

// Executes one command on the draft. On an error the draft is to be thrown away.
Result<void> execute_on(Draft& draft, const Command& command, const CheckContext& context);

}  // namespace pbs::objects

#endif
