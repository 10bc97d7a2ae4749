// Writes the output files that a policy names: files that are rewritten each time, such as
// SORTED_JOB_DUMPFILE, and files that grow, such as the schedule log.
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
// Managers, who need not be root, choose the name, but the server may write as root. So these rules hold. The
// file is in the folder `output` of the scheduler's sched_priv; that folder is a folder HOME/sched_priv* or
// below one. `output` contains only such files: the plugin makes the folder and marks it by an empty file,
// and writes nothing into a folder that isn't empty and has no mark. `output` belongs to the server's user,
// and nobody else can write in it. No symbolic link is followed from HOME on. An existing file has to be a
// regular file of the server's user without further hard links. check_output_file() has to accept `name`.
//
// Returns the reason for a failure, or an empty string.
std::string write_dump_file(const DumpTarget& target, std::string_view text);

// Appends to the file, under the same rules. Opens the file by its name each time, so a new file is made
// after the old one was moved away, as at a rotation of logs.
std::string append_dump_file(const DumpTarget& target, std::string_view text);

// Writes the file of past usage, whose name is fixed, under the same rules.
std::string write_usage_dump(const std::string& home, const std::string& sched_priv, std::string_view text);

}  // namespace pbs::plugin
