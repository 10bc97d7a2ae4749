// Queues and scheds: the host makes and deletes them, the plugin keeps a few of their attributes.
#ifndef PBSPOLICY_PLUGIN_REQUESTS_HOST_OBJECT_H
#define PBSPOLICY_PLUGIN_REQUESTS_HOST_OBJECT_H

#include "server_plugin/plugin/requests/manager.h"

namespace pbs::plugin {

// create: begins anew, whatever was known under the name (the host may have died between the plugin's
// transaction and its own), with the attributes given, all in one transaction. The other commands as they
// are.
objects::Result<objects::Reply> manage_host_object(objects::Store& store, const ManagerRequest& request);

}  // namespace pbs::plugin

#endif
