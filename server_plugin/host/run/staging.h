// Files that a job wants copied before it starts and after it has ended: stagein and stageout. Both ends are
// on this machine.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// "local@host:remote": the local path is that of the job, in its directory unless it begins with a slash, and
// may have * and ? at stageout. A comma of a path has a backslash before it.
struct StagedFile {
    std::string local;
    std::string host;
    std::string remote;
};
// 15014 (PBSE_BADATVAL) if it isn't of that form.
Result<StagedFile> parse_staged_file(std::string_view entry);

// Copies the files of `stage_in` into the job's directory, as the job's owner. The error says which and why
// not.
tl::expected<void, std::string> stage_in(const JobStart& job, const std::string& directory);
// Copies what is to go out, and removes it and what was staged in where it was copied. What can't be copied
// stays, and is in the text: empty if all went well.
std::string stage_out(const JobStart& job, const std::string& directory);

// The directory of a job with sandbox=PRIVATE, made in the owner's home directory, as the owner.
tl::expected<std::string, std::string> make_sandbox(const JobStart& job, const std::string& home);
// Removes what is at the paths, whatever it is, as the job's owner.
void remove_as_owner(const JobStart& job, const std::vector<std::string>& paths);

}  // namespace pbs::host
