// Connections to other servers, made by a process of their own: names may take long to be found, and hosts to
// answer, and nobody here waits for that. What it makes is an authenticated connection, which it hands over.
// One that is encrypted stays with it: it passes on what is sent on both sides, and what it hands over is in
// the clear.
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

// "host" or "host:port"; the usual port where none is given. nullopt: it's neither.
std::optional<ServerName> server_name_of(std::string_view text);

class Connector {
  public:
    // Starts `program`, this server's own, as a maker of a connection. PBSE_SYSTEM: why not.
    static Result<Connector> start(const std::string& program, const ServerName& to);
    Connector(Connector&&) = default;
    Connector& operator=(Connector&&) = default;

    // For poll(2): readable when take() has an answer.
    int fd() const { return channel_.get(); }
    // The process, which its owner kills and waits for.
    pid_t pid() const { return pid_; }

    struct Made {
        ifl::Socket socket;
        std::string user;      // whom the other server takes this one for
        std::string address;   // where the connection leads to, numeric
        bool relayed = false;  // by the process, which has to live as long
    };
    // The connection, or why there is none; to be called once.
    Result<Made> take();

  private:
    Connector(Fd channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}
    Fd channel_;
    pid_t pid_;
};

// Is this process to be a connector? main() asks before anything else.
bool is_connector(int argc, char** argv);
// `pbs_server --connect HOST PORT`: hands the connection over on descriptor 0, with the user's name; or one
// line without a connection: why there is none. With an encrypted connection it passes on what is sent, until
// either side closes.
int connector_main(int argc, char** argv);

}  // namespace pbs::host
