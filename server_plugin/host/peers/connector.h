// Connections to other servers, made by a process of their own, as finding a name or reaching a host may take
// long and nobody here waits for that. The process authenticates the connection and hands it over. It keeps
// an encrypted connection: it then passes data on between both sides, and the server's end is in the clear.
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

// Reads "host" or "host:port"; without a port the usual one. nullopt: malformed.
std::optional<ServerName> server_name_of(std::string_view text);

class Connector {
  public:
    // Starts `program`, this server's own program, to make a connection. PBSE_SYSTEM: why it can't.
    static Result<Connector> start(const std::string& program, const ServerName& to);
    Connector(Connector&&) = default;
    Connector& operator=(Connector&&) = default;

    // The descriptor for poll(2): readable when take() has an answer.
    int fd() const { return channel_.get(); }
    // The process; the owner of this object kills it and waits for it.
    pid_t pid() const { return pid_; }

    struct Made {
        ifl::Socket socket;
        std::string user;      // the user for whom the other server takes this one
        std::string address;   // the numeric address that the connection leads to
        bool relayed = false;  // through the process, which has to live as long
    };
    // Returns the connection, or why there is none. Call it once.
    Result<Made> take();

  private:
    Connector(Fd channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}
    Fd channel_;
    pid_t pid_;
};

// Is this process to be a connector? Ask it first in main().
bool is_connector(int argc, char** argv);
// Runs `pbs_server --connect HOST PORT`: hands the connection over on descriptor 0, with the user's name, or
// instead one line that says why there is none. With an encrypted connection it then passes data on until
// either side closes.
int connector_main(int argc, char** argv);

}  // namespace pbs::host
