// Writes network addresses as texts.
#pragma once

#include <cstdint>
#include <string>

struct sockaddr_storage;

namespace pbs::host {

// Writes an IPv4 or IPv6 address in numeric form. An IPv4 address that is mapped into IPv6 is written as
// IPv4. Sets `port`.
std::string address_text(const sockaddr_storage& address, uint16_t& port);

}  // namespace pbs::host
