// The identity of a client, by which a server judges its rights.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::cluster {

// A user at a host, as established for the connection; a name in the request never counts.
struct Identity {
    std::string user;
    std::string host;
    std::uint32_t privilege = PBS_PRIV_NONE;  // bits of enum pbs_privilege

    bool manager() const { return (privilege & PBS_PRIV_MANAGER) != 0; }
    bool operator_() const { return (privilege & (PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR)) != 0; }
    std::string at_host() const { return user + "@" + host; }
};

}  // namespace pbs::cluster
