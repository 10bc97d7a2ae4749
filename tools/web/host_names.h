// The names that the program answers to. A page of another site can have its own name lead to this machine's
// address (DNS rebinding), and would read here as if it were one of ours; the request still has that name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::web {

class HostNames {
  public:
    /// Answers to localhost and loopback addresses, to the address that it listens on, and to `names`. Where
    /// it listens on all addresses, to each of them and to the machine's own name, too.
    HostNames(std::string_view listens_on, std::vector<std::string> names);

    /// `host` is what the header Host says, with a port or without.
    bool has(std::string_view host) const;

  private:
    std::string listens_on_;  // as bytes
    bool all_ = false;
    std::vector<std::string> names_;  // in lower case
};

/// Is it a host name, without a port?
bool is_host_name(std::string_view text);

}  // namespace pbs::web
