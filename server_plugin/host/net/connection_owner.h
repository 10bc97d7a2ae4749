// Finds the user on this machine whose process has the client's socket of a connection.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>

#include "ifl/credential.h"

namespace pbs::host {

// Finds the client's socket of the connection in the lines of /proc/net/tcp or /proc/net/tcp6, by both
// addresses and ports, and returns its owner. nullopt: there is no such socket, or it is closed, so that the
// kernel doesn't know its owner any more.
std::optional<uid_t> connection_owner(std::istream& table, const ifl::ConnectionEnds& ends);

// Does the same with the kernel's present tables.
std::optional<uid_t> connection_owner(const ifl::ConnectionEnds& ends);

}  // namespace pbs::host
