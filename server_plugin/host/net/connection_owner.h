// Finds the user on this machine whose process has the client's end of a connection.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>

#include "ifl/credential.h"

namespace pbs::host {

// The user of the socket whose own end is the client's and whose other end is the server's, by the lines of
// /proc/net/tcp or /proc/net/tcp6. nullopt: there is no such socket, or it has been closed, after which the
// kernel has no user for it.
std::optional<uid_t> connection_owner(std::istream& table, const ifl::ConnectionEnds& ends);

// Asks the kernel's tables as they are now.
std::optional<uid_t> connection_owner(const ifl::ConnectionEnds& ends);

}  // namespace pbs::host
