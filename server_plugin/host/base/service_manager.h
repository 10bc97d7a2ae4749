// Tells the service manager that started the server how it is: the protocol of sd_notify(3), which is a
// datagram of NAME=value lines to the socket that the environment names.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pbs::host {

class ServiceManager {
  public:
    /// The value of an environment variable; empty when it isn't set.
    using Environment = std::function<std::string(const char* name)>;

    /// Reads NOTIFY_SOCKET: a path, or a name in the abstract namespace behind an '@'. Without it nothing is
    /// told.
    explicit ServiceManager(const Environment& environment);

    /// Takes requests from now on, as this process: --daemon may have made it another one than was started.
    void ready() const;
    /// Is alive. A unit with WatchdogSec= has the server killed when this isn't told for so long.
    void alive() const { tell("WATCHDOG=1"); }
    /// Has begun to stop.
    void stopping() const { tell("STOPPING=1"); }

  private:
    // Nothing is done when it fails: the server is there for its users, not for the service manager.
    void tell(std::string_view state) const;

    std::string socket_;
};

}  // namespace pbs::host
