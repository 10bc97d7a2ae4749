// Connects to a qsub on this machine that waits for a job, at the port that qsub gave with the job.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <istream>
#include <optional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// Connects to the port. A server that runs as root calls from a privileged port, by which qsub knows that no
// ordinary user calls. The listener has to run as `uid`, the job's owner, so that nobody makes the server
// talk to other users' programs. PBSE_SYSTEM: the connection failed; the message has the reason.
Result<Fd> call_client(std::uint16_t port, uid_t uid, std::chrono::milliseconds timeout);

// Returns the uid of the process that listens at a port, by the lines of /proc/net/tcp; nullopt: nobody
// listens.
std::optional<uid_t> listener_at(std::istream& table, std::uint16_t port);

}  // namespace pbs::host
