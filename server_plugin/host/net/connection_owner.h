// Whose process on this machine has the client's end of a connection.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>

#include "ifl/credential.h"

namespace pbs::host {

// By the lines of /proc/net/tcp or /proc/net/tcp6: the user of the socket whose own end is the client's and
// whose other one is the server's. nullopt: it isn't there, or has been closed, after which the kernel has no
// user for it.
std::optional<uid_t> connection_owner(std::istream& table, const ifl::ConnectionEnds& ends);

// The same, of the kernel now.
std::optional<uid_t> connection_owner(const ifl::ConnectionEnds& ends);

}  // namespace pbs::host
