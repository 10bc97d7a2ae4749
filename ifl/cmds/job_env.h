// The environment that a job gets from where it was submitted: its Variable_List.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct SubmitEnvironment {
    std::map<std::string, std::string> variables;  // of the submitting process
    std::string directory;                         // its working directory
    std::string host;
    std::string system;  // uname's: "Linux"
};

// A Variable_List (text/variable_list.h): what PBS tells of the submitting process, then the variables of -v
// (name=value, or a name whose value is taken from the environment), then, with -V, all of the environment.
// Names that begin with PBS_O_ and a job's cookies are PBS's own and left out of the latter two. Errors: a
// name of -v that isn't set.
Result<std::string> variable_list(const SubmitEnvironment& environment,
                                  const std::optional<std::string>& wanted, bool all);

}  // namespace pbs::cmds
