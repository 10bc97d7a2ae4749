// Files that a policy wants written: whole, such as SORTED_JOB_DUMPFILE, or longer each time, such as the
// schedule log.
#ifndef PBSPOLICY_PLUGIN_DUMP_FILE_H
#define PBSPOLICY_PLUGIN_DUMP_FILE_H

#include <string>
#include <string_view>

namespace pbs::plugin {

struct DumpTarget {
    std::string home;        // PBS_HOME
    std::string sched_priv;  // the scheduler's folder; empty: HOME/sched_priv
    std::string path;        // as configured, relative to sched_priv
};

// Writes the file whole. One that isn't there is made readable by its owner only; an existing one keeps its
// permissions.
//
// Managers, who need not be root, choose the path, and the server that writes may be root. So the file has to
// be a regular file in or below a folder HOME/sched_priv*, with no symbolic link leading out of it.
//
// Returns why it wasn't written, or an empty string.
std::string write_dump_file(const DumpTarget& target, std::string_view text);

// The same, behind what the file has. It is opened each time: one that was moved away (logs are rotated) is
// made anew.
std::string append_dump_file(const DumpTarget& target, std::string_view text);

}  // namespace pbs::plugin

#endif
