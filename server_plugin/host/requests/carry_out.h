// Directives that qmgr printed of an older server, carried out by the same handlers and checks as single
// Manager requests. They come from a migration of legacy files, which is the plugin's: as JSON, the numbers
// as the batch protocol has them,
//
//   {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1, "object": "workq",
//    "attribute": "resources_max.ncpus", "value": "4", "op": 0}]}
//
// and what came of each goes back to it: [{"changed": true, "before": "3", "refused": ""}].
#ifndef PBSPOLICY_HOST_CARRY_OUT_H
#define PBSPOLICY_HOST_CARRY_OUT_H

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/configuration.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

struct CarriedOut {
    std::string outcomes = "[]";        // JSON, in the order of the commands
    std::vector<ConfigChange> changes;  // every object that is different now
};

// Carries out what the JSON says, as whoever asks in `context` may; an empty text is nothing. What is refused
// is tried again once the rest is done, since it may name what comes later, and then left out. Of vnodes only
// parts of this machine are made. Call it in a Batch, which is to be thrown away on an error: PBSE_INTERNAL,
// if it is no such JSON.
Result<CarriedOut> carry_out(Context& context, std::string_view json);

// At the server's start: what a migration has left to it, in one change. An error goes to the log; the next
// start tries again.
void carry_out_pending(Server& server);

}  // namespace pbs::host

#endif
