// Bundles information about a server for somebody who helps from afar: an archive of its configuration, a
// record of a cycle, its log, its diagnosis, and versions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::diag {

struct BundleOptions {
    std::string report;    ///< what pbs_diag prints, as one of the files
    std::string versions;  ///< of programs and machine, as another
    std::string home;      ///< of the server; its log is read there if it may be read
    std::vector<std::string> users;
    bool anonymous = false;
    std::chrono::sys_seconds now;
};

/// A part that can't be obtained is named in the archive's README; the other parts are there. Error: the
/// names to replace can't be found out.
struct Bundle {
    std::string archive;                ///< for tar(1)
    std::vector<std::string> left_out;  ///< what, and why
};
cmds::Result<Bundle> make_bundle(const cmds::Connection& connection, const BundleOptions& options);

}  // namespace pbs::diag
