// Answers Manager requests that change many objects. The changes are prepared in slices of a few
// milliseconds, between which other clients have turns. In the end all changes come into force at once.
#pragma once

#include <functional>
#include <string>

#include "server_plugin/host/change/batch.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

struct Slices {
    // Does the next slice of the server's part, in a batch (Server::batch). Returns whether more is left. An
    // error is the reply to the request, and nothing has changed. But after PBSE_TRYAGAIN the function is
    // called again later.
    std::function<tl::expected<bool, ifl::Reply>(Context& context)> some;
    // Does the plugin's part, when the server's part is complete. Its reply is the reply to the request. But
    // after PBSE_TRYAGAIN the function is called again.
    std::function<ifl::Reply(Context& context, const HostRecord& record)> plugins_part;
    std::string text{};    // the request, for the history
    bool dry_run = false;  // drop all changes in the end
};

// Makes the slices the steps that answer the request (Context::rest). REQUIRES: no other batch is open.
ifl::Reply in_slices(Context& context, Slices slices);

}  // namespace pbs::host
