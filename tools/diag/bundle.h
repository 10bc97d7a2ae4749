// Bundles information about a server for somebody who helps from afar: an archive of its configuration,
// records of cycles, its log, its diagnosis, and versions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::diag {

struct BundleOptions {
    std::string report;    ///< the output of pbs_diag, for a file
    std::string versions;  ///< versions of programs and machine, for a file
    /// The server's home, in which its log is. Empty: the server doesn't tell, like an OpenPBS server; the
    /// log is then looked for in this host's PBS_HOME, if the server is on this host.
    std::string home;
    /// The users who have sent requests, as the log names them: "alice@host". nullopt: the server doesn't
    /// tell.
    std::optional<std::vector<std::string>> users;
    std::vector<std::string> left_out;  ///< a line with the reason for each missing part of the report
    bool anonymous = false;
    std::chrono::sys_seconds now;
};

/// An archive of the parts of a diagnosis that could be obtained. Its README names the missing parts, as
/// `left_out` does.
struct Bundle {
    std::string archive;                ///< for tar(1)
    std::vector<std::string> left_out;  ///< a line with the reason for each missing part
};
/// Makes the archive. Errors: the names that have to be replaced in it can't be learnt.
cmds::Result<Bundle> make_bundle(const cmds::Connection& connection, const BundleOptions& options);

}  // namespace pbs::diag
