// Files that a policy names: files that are rewritten each time, such as SORTED_JOB_DUMPFILE, and files that
// grow, such as the schedule log.
#pragma once

#include <string>
#include <string_view>

namespace pbs::plugin {

struct DumpTarget {
    std::string home;        // PBS_HOME
    std::string sched_priv;  // the scheduler's folder; empty: HOME/sched_priv
    std::string name;        // the file's name, as configured
};

// Replaces the file's contents. A new file is readable by its owner only; an existing one keeps its
// permissions.
//
// Managers, who need not be root, choose the name, but the server that writes may be root. So these rules
// hold. The file is in the folder `output` of the scheduler's sched_priv, which is a folder HOME/sched_priv*
// or below one. `output` contains only such files: the plugin makes it and marks it by an empty file; a
// folder without the mark that isn't empty is somebody else's, and nothing is written there. The folder
// belongs to the server's user, and nobody else can write in it. No symbolic link is followed from HOME on.
// An existing file has to be a regular file of the server's user, with one name. check_output_file() has to
// accept `name`.
//
// Returns the reason for a failure, or an empty string.
std::string write_dump_file(const DumpTarget& target, std::string_view text);

// Appends to the file, under the same rules. Opens the file anew each time: if it was moved away (logs are
// rotated), a new file is made.
std::string append_dump_file(const DumpTarget& target, std::string_view text);

// Writes the file of past usage, whose name is fixed, under the same rules.
std::string write_usage_dump(const std::string& home, const std::string& sched_priv, std::string_view text);

}  // namespace pbs::plugin
