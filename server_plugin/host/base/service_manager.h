// Tells the service manager that started the server the server's state, by the protocol of sd_notify(3): a
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

    /// Tells that the server takes requests from now on, as this process, which --daemon may have forked
    /// from the one that was started.
    void ready() const;
    /// Tells that the server is alive. With WatchdogSec= in the unit, the server is killed when this doesn't
    /// come for so long.
    void alive() const { tell("WATCHDOG=1"); }
    /// Tells that the server has begun to stop.
    void stopping() const { tell("STOPPING=1"); }

  private:
    // A failure is ignored: the server is there for its users, not for the service manager.
    void tell(std::string_view state) const;

    std::string socket_;
};

}  // namespace pbs::host
