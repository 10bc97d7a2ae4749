// Bundles information about a server for somebody who helps from afar: an archive of its configuration,
// records of cycles, its log, its diagnosis, and versions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::diag {

struct BundleOptions {
    std::string report;    ///< the output of pbs_diag, for a file
    std::string versions;  ///< versions of programs and machine, for a file
    std::string home;      ///< the server's home, in which its log is
    std::vector<std::string> users;
    bool anonymous = false;
    std::chrono::sys_seconds now;
};

/// An archive of the parts that could be obtained. Its README names the missing ones, as `left_out` does.
/// make_bundle() fails if it can't learn the names to replace.
struct Bundle {
    std::string archive;                ///< for tar(1)
    std::vector<std::string> left_out;  ///< a line with the reason for each missing part
};
cmds::Result<Bundle> make_bundle(const cmds::Connection& connection, const BundleOptions& options);

}  // namespace pbs::diag
