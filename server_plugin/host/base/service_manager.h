// Reports the server's state to the service manager that started the server, by the protocol of sd_notify(3):
// a datagram of NAME=value lines to the socket that the environment names.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pbs::host {

class ServiceManager {
  public:
    /// The value of an environment variable; empty when it isn't set.
    using Environment = std::function<std::string(const char* name)>;

    // Reads NOTIFY_SOCKET: a path, or a name in the abstract namespace with '@' before it. Without it,
    // nothing is reported.
    explicit ServiceManager(const Environment& environment);

    // Reports that the server takes requests from now on, and that this process is the main one: with
    // --daemon, the service manager started another process, which forked this one.
    void ready() const;
    // Reports that the server is alive. If the unit has WatchdogSec=, the service manager kills a server that
    // doesn't report this for so long.
    void alive() const { tell("WATCHDOG=1"); }
    // Reports that the server has begun to stop.
    void stopping() const { tell("STOPPING=1"); }

  private:
    // Sends the report. Ignores failures, because the server also works without a service manager.
    void tell(std::string_view state) const;

    std::string socket_;
};

}  // namespace pbs::host
