// Carries out Manager requests (directives) that qmgr has printed on an older server, by the handlers and
// checks of single Manager requests. In a migration of legacy files, the plugin reads the directives and
// passes them to the server as JSON, with the numbers of the batch protocol:
//
//   {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1, "object": "workq",
//     "attribute": "resources_max.ncpus", "value": "4", "op": 0}]}
//
// The outcome of each directive goes back to the plugin: [{"changed": true, "before": "3", "refused": ""}].
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/configuration.h"

namespace pbs::host {

// Carries out the directives in the JSON with the rights of the requester in `context`. A directive that is
// refused may name an object that is made later, so it is tried again after the others. If it is refused
// again, it is left out. Vnodes of other machines aren't made.
class CarryOut {
  public:
    // Reads the directives; an empty text has none. PBSE_INTERNAL: the JSON is malformed.
    static Result<std::unique_ptr<CarryOut>> begin(Context& context, std::string_view json);
    ~CarryOut();
    CarryOut(const CarryOut&) = delete;
    CarryOut& operator=(const CarryOut&) = delete;

    // Carries out one directive, within Batch::run(). Returns false when all are done: call it until then.
    bool go_on();
    // Returns the outcomes as JSON, in the order of the directives. REQUIRES: all directives are done.
    const std::string& outcomes() const;

  private:
    class Work;
    explicit CarryOut(std::unique_ptr<Work> work);
    std::unique_ptr<Work> work_;
};

// At the server's start, carries out the directives of a pending migration, in one change. An error is
// logged, and the next start tries again.
void carry_out_pending(Server& server);

}  // namespace pbs::host
