// Files that a policy wants written: whole each time, such as SORTED_JOB_DUMPFILE, or appended to, such as
// the schedule log.
#pragma once

#include <string>
#include <string_view>

namespace pbs::plugin {

struct DumpTarget {
    std::string home;        // PBS_HOME
    std::string sched_priv;  // the scheduler's folder; empty: HOME/sched_priv
    std::string name;        // the file's name, as configured
};

// Writes the file whole. A new file is made readable by its owner only; an existing one keeps its
// permissions.
//
// Managers, who need not be root, choose the name, and the server that writes may be root. So the file is in
// a folder that contains only such files: `output` in the scheduler's sched_priv, which is a folder
// HOME/sched_priv* or below one. The folder is made here, with an empty file in it that marks it (a folder
// without that mark that isn't empty is somebody else's, and left alone); it belongs to the server's user,
// and nobody else can write in it. No symbolic link is followed from HOME on, and an existing file has to be
// a regular one of the server's user with one name. `name` has to be one that check_output_file() takes.
//
// Returns the reason why it wasn't written, or an empty string.
std::string write_dump_file(const DumpTarget& target, std::string_view text);

// Appends to the file, under the same rules. The file is opened each time: after one was moved away (logs are
// rotated), a new one is made.
std::string append_dump_file(const DumpTarget& target, std::string_view text);

// Writes the file of past usage, whose name is fixed, under the same rules.
std::string write_usage_dump(const std::string& home, const std::string& sched_priv, std::string_view text);

}  // namespace pbs::plugin
