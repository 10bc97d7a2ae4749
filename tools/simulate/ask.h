// The configuration of a running server, through the C API.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/accounting.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct ServerAnswer {
    std::string document;   // as pbs_config export writes it
    std::string time_zone;  // the server's; empty: it doesn't say
};

// `server` is empty for the default one. Errors: it can't be reached, or refuses (operators and managers may
// read the configuration).
Result<ServerAnswer> ask_server(const std::string& server);

// The usage of shares that the server keeps, as pbs_fairshare(8) writes it as JSON; of a server that keeps
// none: no trees. Managers are told of all entities. Errors: as above.
Result<std::string> ask_share_usage(const std::string& server, const std::vector<std::string>& scheds);

// The accounting logs that the server has of the days FIRST to LAST, both YYYYMMDD and included; "" stands
// for the first or the last log that there is. Errors: as above, or the server has no log of these days.
Result<std::vector<LogText>> ask_accounting(const std::string& server, const std::string& first,
                                            const std::string& last);

}  // namespace pbs::simulate
