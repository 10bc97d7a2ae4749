// Warnings about attributes of the server's own objects that have no effect: attributes that need another
// one, attributes of the other type of queue, and attributes that the policy in force doesn't act on, as the
// plugin says. objects/unsupported.h does the same for policies and time_windows.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/manage.h"

namespace pbs::host {

// Adds a warning for each attribute of a set or create, including the plugin's, that has no effect on an
// object with `attributes`. For queues, and for the server, whose name is empty.
void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view name);

}  // namespace pbs::host
