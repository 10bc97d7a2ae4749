// Calls the qsub that waits for a job, on this machine: it listens at a port that it gave with the job.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <istream>
#include <optional>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

// A connection to the port, from a privileged one if this process may have such: it tells qsub that no
// ordinary user calls. Whose job it is has to be who listens there, `uid`, so that nobody has the server talk
// to somebody else's programs. PBSE_SYSTEM: why not.
Result<Fd> call_client(std::uint16_t port, uid_t uid, std::chrono::milliseconds timeout);

// Who listens at a port, by the lines of /proc/net/tcp; nullopt: nobody.
std::optional<uid_t> listener_at(std::istream& table, std::uint16_t port);

}  // namespace pbs::host
