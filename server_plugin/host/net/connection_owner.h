// Finds the user on this machine who owns the client's end of a connection.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>

#include "ifl/credential.h"

namespace pbs::host {

// Finds the socket whose ends are those of the connection, the client's end first, in the lines of
// /proc/net/tcp or /proc/net/tcp6. Returns its owner. nullopt: there is no such socket, or it is closed, and
// the kernel doesn't know its owner any more.
std::optional<uid_t> connection_owner(std::istream& table, const ifl::ConnectionEnds& ends);

// Reads the kernel's present tables.
std::optional<uid_t> connection_owner(const ifl::ConnectionEnds& ends);

}  // namespace pbs::host
