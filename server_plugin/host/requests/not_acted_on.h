// What the server's own objects can be given and nothing acts on: attributes that count only together with
// another one, those of the other type of queue, and by the plugin's word those that the policy in force
// doesn't act on. Policies and time_windows have objects/unsupported.h.
#pragma once

#include <string_view>

#include "server_plugin/host/requests/manage.h"

namespace pbs::host {

// Adds a warning for each attribute that a set or a create names, the plugin's too, and that doesn't act on
// an object of these attributes. For queues and the server, whose name is empty.
void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view name);

}  // namespace pbs::host
