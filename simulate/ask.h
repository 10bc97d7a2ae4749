// The configuration of a running server, through the C API.
#ifndef PBSPOLICY_SIMULATE_ASK_H
#define PBSPOLICY_SIMULATE_ASK_H

#include <string>

#include "simulate/trace.h"

namespace pbs::simulate {

struct ServerAnswer {
    std::string document;   // as pbs_config export writes it
    std::string time_zone;  // the server's; empty: it doesn't say
};

// `server` is empty for the default one. Errors: it can't be reached, or refuses (operators and managers may
// read the configuration).
Result<ServerAnswer> ask_server(const std::string& server);

}  // namespace pbs::simulate

#endif
