// Files that a policy wants written: whole, such as SORTED_JOB_DUMPFILE, or longer each time, such as the
// schedule log.
#pragma once

#include <string>
#include <string_view>

namespace pbs::plugin {

struct DumpTarget {
    std::string home;        // PBS_HOME
    std::string sched_priv;  // the scheduler's folder; empty: HOME/sched_priv
    std::string name;        // of the file, as configured
};

// Writes the file whole. One that isn't there is made readable by its owner only; an existing one keeps its
// permissions.
//
// Managers, who need not be root, choose the name, and the server that writes may be root. So the file is in
// a folder that has nothing but such files: `output` in the scheduler's sched_priv, which is a folder
// HOME/sched_priv* or below one. The folder is made here, with an empty file in it that says so (one that
// is there without that file, and not empty, is somebody else's, and left alone); it belongs to the server's
// user, and nobody else can write in it. No symbolic link is followed from HOME on, and a file has to be a
// regular one of the server's user with one name. `name` has to be one that check_output_file() takes.
//
// Returns why it wasn't written, or an empty string.
std::string write_dump_file(const DumpTarget& target, std::string_view text);

// The same, behind what the file has. It is opened each time: one that was moved away (logs are rotated) is
// made anew.
std::string append_dump_file(const DumpTarget& target, std::string_view text);

// Writes the file of past usage, whose name nobody chooses, in the same way.
std::string write_usage_dump(const std::string& home, const std::string& sched_priv, std::string_view text);

}  // namespace pbs::plugin
