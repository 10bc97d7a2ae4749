// Reads the files `allocations` and `current` in the directory SCHED_ACCT_DIR for the scheduler, at first and
// whenever they have changed (sched-config guide, "SCHED_ACCT_DIR").
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "server_plugin/plugin/file.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// Hands the contents of the two files to the scheduler. If a file can't be read or has a mistake, the last
// good contents stay in force, and a line is logged once for each change of the file. Managers, who need not
// be root, choose the directory, but the server may read as root. So only files of these two names that
// open_plain_file() accepts are read.
class AllocationFiles {
  public:
    // Reads the changed files of the directory that the policy of the scheduler `sched` names, if any. A
    // relative directory is below `sched_priv`. With `anew` reads unchanged files, too.
    void refresh(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                 const std::string& sched_priv, sched::Instant now, bool anew);

  private:
    struct Watched {
        FileVersion version{};  // at the last attempt to read it, successful or not
        std::string said;       // the last line that was logged about the file
    };
    using Take = std::string (*)(sched::Scheduler& scheduler, const std::string& dir, const std::string& path,
                                 std::string_view text);
    void refresh(sched::Scheduler& scheduler, const Host& host, const std::string& dir,
                 const std::string& path, Watched& file, Take take, bool anew);

    std::map<std::string, std::array<Watched, 2>> files_;  // by directory, as in the policy: the two files
};

}  // namespace pbs::plugin
