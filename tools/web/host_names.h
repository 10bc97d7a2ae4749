// Checks the host name in requests. Another site can make its own name lead to this machine (DNS rebinding),
// so that a script on its page could read the pages of this program in a visitor's browser. Such requests
// still carry the other site's name, and are refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::web {

class HostNames {
  public:
    /// Accepts localhost and loopback addresses, the address on which the program listens, and `names`. If
    /// the program listens on all addresses, accepts each of them and the machine's own name.
    HostNames(std::string_view listens_on, std::vector<std::string> names);

    /// Checks `host`, the value of the header Host, with or without a port.
    bool has(std::string_view host) const;

  private:
    std::string listens_on_;  // the address, as bytes
    bool all_ = false;
    std::vector<std::string> names_;  // in lower case
};

/// Returns whether the text is a host name without a port.
bool is_host_name(std::string_view text);

}  // namespace pbs::web
