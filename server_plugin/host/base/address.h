// Addresses of the network as texts.
#pragma once

#include <cstdint>
#include <string>

struct sockaddr_storage;

namespace pbs::host {

// The numeric text of an address of IPv4 or IPv6, that of an IPv4 address in IPv6 as IPv4; `port` is set.
std::string address_text(const sockaddr_storage& address, uint16_t& port);

}  // namespace pbs::host
