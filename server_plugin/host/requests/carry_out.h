// Carries out directives that qmgr has printed on an older server, by the handlers and checks of single
// Manager requests. The plugin reads them in a migration of legacy files and passes them as JSON, with the
// numbers of the batch protocol:
//
//   {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1, "object": "workq",
//    "attribute": "resources_max.ncpus", "value": "4", "op": 0}]}
//
// The outcome of each goes back to the plugin: [{"changed": true, "before": "3", "refused": ""}].
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/state/configuration.h"

namespace pbs::host {

// Carries out the directives of the JSON with the requester's rights in `context`; an empty text has none. A
// refused directive may name an object that comes later, so it is tried again after the others, and then left
// out. Vnodes of other machines aren't made.
class CarryOut {
  public:
    // Errors: PBSE_INTERNAL, if the JSON is malformed.
    static Result<std::unique_ptr<CarryOut>> begin(Context& context, std::string_view json);
    ~CarryOut();
    CarryOut(const CarryOut&) = delete;
    CarryOut& operator=(const CarryOut&) = delete;

    // Carries out one directive. Call it in Batch::run() until it returns false: all are done.
    bool go_on();
    // The outcomes, once all directives are done: JSON, in the order of the directives.
    const std::string& outcomes() const;

  private:
    class Work;
    explicit CarryOut(std::unique_ptr<Work> work);
    std::unique_ptr<Work> work_;
};

// At the server's start, carries out the directives of a migration in one change. An error is logged; the
// next start tries again.
void carry_out_pending(Server& server);

}  // namespace pbs::host
