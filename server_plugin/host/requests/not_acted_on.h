// Warnings about attributes of the server's own objects that have no effect: attributes that count only
// together with another one, those of the other type of queue, and those that have no effect under the policy
// in force, as the plugin says. Policies and time_windows have objects/unsupported.h.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/manage.h"

namespace pbs::host {

// Adds a warning for each attribute in a set or create, including the plugin's, that has no effect on an
// object with these attributes. For queues and the server, whose name is empty.
void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view name);

}  // namespace pbs::host
