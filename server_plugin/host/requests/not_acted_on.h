// Warns of attributes of the server's own objects that have no effect: attributes that need another one,
// attributes for the other type of queue, and attributes on which the policy in force doesn't act, as the
// plugin says. (For policies and time_windows, objects/unsupported.h does this.)
#pragma once

#include <string_view>

#include "server_plugin/host/requests/manage.h"

namespace pbs::host {

// Adds a warning for each attribute without effect in a set or create request; attributes of the plugin
// count, too. `attributes`: the object's attributes after the request. `name`: the queue's name; empty for
// the server.
void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view name);

}  // namespace pbs::host
