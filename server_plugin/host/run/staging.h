// Copies files for a job on this machine, before it starts (stagein) and after it has ended (stageout).
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// An entry of stagein or stageout: "local@host:remote". The local path is in the job's directory, unless it
// begins with a slash; in stageout it may have the wildcards * and ?. The remote path is in the owner's home
// directory, unless it begins with a slash. A comma in a path has a backslash before it.
struct StagedFile {
    std::string local;
    std::string host;
    std::string remote;
};
// Reads an entry. PBSE_BADATVAL: it doesn't have that form.
Result<StagedFile> parse_staged_file(std::string_view entry);

// Copies the files of `stage_in` into the job's directory, as the job's owner. `home` is the owner's home
// directory. The error names the file that failed, and the reason.
tl::expected<void, std::string> stage_in(const JobStart& job, const std::string& directory,
                                         const std::string& home);
// Copies the files of `stage_out`. Then removes the local copies of these files and of the files that were
// staged in. A file that can't be copied stays. Returns a text that names the files that stay; empty: all
// were copied.
std::string stage_out(const JobStart& job, const std::string& directory, const std::string& home);

// Makes the directory of a job with sandbox=PRIVATE in the owner's home directory, as the owner.
tl::expected<std::string, std::string> make_sandbox(const JobStart& job, const std::string& home);
// Removes the files and directories at the paths, as the job's owner.
void remove_as_owner(const JobStart& job, const std::vector<std::string>& paths);

}  // namespace pbs::host
