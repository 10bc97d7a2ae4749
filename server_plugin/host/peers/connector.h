// Makes connections to other servers. Each connection is made by a separate process, because looking up a
// name and reaching a host may take long, and the server never waits for that. The process authenticates the
// connection and passes it to the server. If the connection is encrypted, the process stays and relays its
// data, so that the server reads and writes plain text.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "ifl/socket.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

struct ServerName {
    std::string host;
    uint16_t port = 0;
    std::string text() const { return host + ":" + std::to_string(port); }
    auto operator<=>(const ServerName&) const = default;
};

// Reads "host" or "host:port"; without a port, takes PBS's usual one. nullopt: the text is malformed.
std::optional<ServerName> server_name_of(std::string_view text);

class Connector {
  public:
    // Starts `program`, this server's own program, to make a connection. PBSE_SYSTEM: it can't be started.
    static Result<Connector> start(const std::string& program, const ServerName& to);
    Connector(Connector&&) = default;
    Connector& operator=(Connector&&) = default;

    // Returns the descriptor for poll(2), which is readable when take() has an answer.
    int fd() const { return channel_.get(); }
    // Returns the process's pid. The owner of this object has to kill the process and wait for it.
    pid_t pid() const { return pid_; }

    struct Made {
        ifl::Socket socket;
        std::string user;      // the user for whom the other server takes this one
        std::string address;   // the numeric address of the other server
        bool relayed = false;  // the process relays the connection's data, so it has to go on
    };
    // Returns the connection, or the reason for a failure. Call it once.
    Result<Made> take();

  private:
    Connector(Fd channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}
    Fd channel_;
    pid_t pid_;
};

// Returns whether this process was started as a connector. Call it first in main().
bool is_connector(int argc, char** argv);
// Implements `pbs_server --connect HOST PORT`: passes the connection over descriptor 0, with the user's name;
// or sends a line with the reason for a failure. Relays an encrypted connection until either side closes it.
int connector_main(int argc, char** argv);

}  // namespace pbs::host
