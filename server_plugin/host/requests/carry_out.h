// Directives that qmgr printed of an older server, carried out by the same handlers and checks as single
// Manager requests. They come from a migration of legacy files, which is the plugin's: as JSON, the numbers
// as the batch protocol has them,
//
//   {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1, "object": "workq",
//    "attribute": "resources_max.ncpus", "value": "4", "op": 0}]}
//
// and what came of each goes back to it: [{"changed": true, "before": "3", "refused": ""}].
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/configuration.h"

namespace pbs::host {

// Carries out what the JSON says, as whoever asks in `context` may; an empty text is nothing. What is refused
// is tried again once the rest is done, since it may name what comes later, and then left out. Of vnodes only
// parts of this machine are made.
class CarryOut {
  public:
    // Errors: PBSE_INTERNAL, if it is no such JSON.
    static Result<std::unique_ptr<CarryOut>> begin(Context& context, std::string_view json);
    ~CarryOut();
    CarryOut(const CarryOut&) = delete;
    CarryOut& operator=(const CarryOut&) = delete;

    // Goes on with one directive, to be called in Batch::run() until nothing is left: false.
    bool go_on();
    // In the end: JSON, in the order of the commands.
    const std::string& outcomes() const;

  private:
    class Work;
    explicit CarryOut(std::unique_ptr<Work> work);
    std::unique_ptr<Work> work_;
};

// At the server's start: what a migration has left to it, in one change. An error goes to the log; the next
// start tries again.
void carry_out_pending(Server& server);

}  // namespace pbs::host
