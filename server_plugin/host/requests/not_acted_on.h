// What the server's own objects can be given and nothing acts on: attributes that count only together with
// another one, and those of the other type of queue. Policies and time_windows have objects/unsupported.h.
#ifndef PBSPOLICY_HOST_REQUESTS_NOT_ACTED_ON_H
#define PBSPOLICY_HOST_REQUESTS_NOT_ACTED_ON_H

#include <string_view>

#include "server_plugin/host/requests/manage.h"

namespace pbs::host {

// Adds a warning for each attribute that a set or a create names, the plugin's too, and that doesn't act on
// an object of these attributes. `title` names the object: "queue q1". For queues and the server.
void warn_of_not_acted_on(Management& request, const Attributes& attributes, std::string_view title);

}  // namespace pbs::host

#endif
