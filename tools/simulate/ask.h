// Asks a running server for its configuration and accounting, through the C API.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/accounting.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct ServerAnswer {
    std::string document;   // in the form of pbs_config export
    std::string time_zone;  // the server's zone; empty: it reports none
};

// Asks for the configuration. An empty `server` is the default one. Errors: the server can't be reached, or
// refuses (operators and managers may read the configuration).
Result<ServerAnswer> ask_server(const std::string& server);

// Asks for the fair-share usage that the server keeps, and returns it as JSON in the form of
// pbs_fairshare(8), without trees if the server keeps none. Only managers get all entities. Errors: as for
// ask_server().
Result<std::string> ask_share_usage(const std::string& server, const std::vector<std::string>& scheds);

// Asks for the accounting logs of the days from `first` to `last` inclusive, both YYYYMMDD. "" means the
// first or the last log of the server. Errors: as for ask_server(), or the server has no log of these days.
Result<std::vector<LogText>> ask_accounting(const std::string& server, const std::string& first,
                                            const std::string& last);

}  // namespace pbs::simulate
