// The files of SCHED_ACCT_DIR, `allocations` and `current`: read for the scheduler, and again when they are
// touched (sched-config guide, "SCHED_ACCT_DIR").
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "server_plugin/plugin/file.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// A file that can't be read or has a mistake leaves the last good contents in force; the log tells of it once
// for each change of the file. Managers, who need not be root, choose the directory, and the server that
// reads may be root: so only files of these two names that open_plain_file() takes are read.
class AllocationFiles {
  public:
    // Reads the changed files of the directory that the policy of `sched` enforces, if any; a relative one is
    // below `sched_priv`. `anew`: reads them even if unchanged.
    void refresh(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                 const std::string& sched_priv, sched::Instant now, bool anew);

  private:
    struct Watched {
        FileVersion version{};  // when last read, or found wrong
        std::string said;       // the text that the log was last told
    };
    using Take = std::string (*)(sched::Scheduler& scheduler, const std::string& dir, const std::string& path,
                                 std::string_view text);
    void refresh(sched::Scheduler& scheduler, const Host& host, const std::string& dir,
                 const std::string& path, Watched& file, Take take, bool anew);

    std::map<std::string, std::array<Watched, 2>> files_;  // by directory, as configured
};

}  // namespace pbs::plugin
