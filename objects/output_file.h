// Files that a scheduler writes for a policy, such as sorted_job_dumpfile.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace pbs::objects {

// The folder below the scheduler's sched_priv that they are in, all of them, and nothing else is.
inline constexpr std::string_view kOutputFolder = "output";
// The file there that past usage is written to.
inline constexpr std::string_view kUsageFile = "decay_usage";

// Can this be the name of one? Whoever manages the server without being root chooses it, and the server that
// writes may be root: it is a name alone, of letters, digits, '-', '_' and '.', which begins with a letter or
// digit, has at most 64 characters, and isn't kUsageFile. The error says what was expected.
tl::expected<void, std::string> check_output_file(std::string_view name);

}  // namespace pbs::objects
