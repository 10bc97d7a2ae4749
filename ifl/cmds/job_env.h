// Makes a job's Variable_List: the environment that the job takes along from its submission.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct SubmitEnvironment {
    std::map<std::string, std::string> variables;  // the submitting process's
    std::string directory;                         // the process's working directory
    std::string host;
    std::string system;  // from uname: "Linux"
};

// The Variable_List (text/variable_list.h): PBS's own variables about the submitting process, then the
// variables of -v (name=value, or a name whose value comes from the environment), then, with -V, the whole
// environment. From -v and -V, names that begin with PBS_O_ and a job's cookies are left out, because they
// are PBS's own. Errors: a name of -v isn't set.
Result<std::string> variable_list(const SubmitEnvironment& environment,
                                  const std::optional<std::string>& wanted, bool all);

}  // namespace pbs::cmds
