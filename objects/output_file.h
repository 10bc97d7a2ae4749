// Checks the names of files that a scheduler writes for a policy, such as sorted_job_dumpfile.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace pbs::objects {

// The folder below the scheduler's sched_priv that holds all output files of policies and nothing else.
inline constexpr std::string_view kOutputFolder = "output";
// The file in that folder to which past usage is written.
inline constexpr std::string_view kUsageFile = "decay_usage";

// Checks that `name` may be the name of an output file. A manager who isn't root may choose it, and the
// server that writes the file may be root. So it must be a plain name: letters, digits, '-', '_' and '.',
// beginning with a letter or digit, at most 64 characters, and not kUsageFile. The error says what was
// expected.
tl::expected<void, std::string> check_output_file(std::string_view name);

}  // namespace pbs::objects
