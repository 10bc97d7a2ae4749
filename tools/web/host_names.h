// Checks the host name of requests. Another site can make its own name lead to this machine (DNS rebinding),
// so that its page could read ours in a visitor's browser. Its requests still carry its name: they are
// refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::web {

class HostNames {
  public:
    /// Accepts localhost and loopback addresses, the address that the program listens on, and `names`. A
    /// program that listens on all addresses accepts each of them, and the machine's own name.
    HostNames(std::string_view listens_on, std::vector<std::string> names);

    /// Checks `host`, the value of the header Host, with or without a port.
    bool has(std::string_view host) const;

  private:
    std::string listens_on_;  // as the bytes of the address
    bool all_ = false;
    std::vector<std::string> names_;  // in lower case
};

/// Is the text a host name without a port?
bool is_host_name(std::string_view text);

}  // namespace pbs::web
