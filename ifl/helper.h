// Authenticates a connection through the setuid helper pbs_iff, of this project or of an installed PBS.
#pragma once

#include <string>

#include "ifl/error.h"
#include "ifl/settings.h"
#include "ifl/socket.h"

namespace pbs::ifl {

/// Lets `exec`/sbin/pbs_iff tell the server the user of `connection`. If `exec` is empty: OpenPBS's pbs_iff
/// in /opt/pbs, else this project's. Errors: PBSE_BADCRED when there is no such program or it fails; the
/// server's code when it refuses.
Result<void> authenticate_with_helper(const Socket& connection, const LocalEnd& local,
                                      const ServerAddress& address, const std::string& exec);

}  // namespace pbs::ifl
