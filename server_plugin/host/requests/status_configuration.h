#pragma once

#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Answers a StatusSched request whose extend string began with "object=configuration"; `extend` is the rest.
// Needs a plugin.
ifl::Reply status_configuration(Context& context, std::string_view extend);

}  // namespace pbs::host
