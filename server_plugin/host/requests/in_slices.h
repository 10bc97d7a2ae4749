// Manager requests that change many objects: worked out in slices of a few milliseconds, so that others have
// their turns in between, and then put in force all at once.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/change/batch.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

struct Slices {
    // Goes on with the server's part, in a batch (Server::batch): true while something is left. An error is
    // the request's reply, and nothing has changed; except that after PBSE_TRYAGAIN it is called again,
    // later.
    std::function<tl::expected<bool, ifl::Reply>(Context& context)> some;
    // The plugin's part, called once the server's part is known. Its reply is the request's; after
    // PBSE_TRYAGAIN it is called again.
    std::function<ifl::Reply(Context& context, const HostRecord& record)> plugins_part;
    std::string text{};    // the request, for the history
    bool dry_run = false;  // nothing changes in the end
};

// Answers in steps (Context::rest). REQUIRES: no other batch is open.
ifl::Reply in_slices(Context& context, Slices slices);

}  // namespace pbs::host
