// Manager requests: create, delete, set and unset.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "objects/commands.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// A Manager request in the store's types.
struct ManagerRequest {
    objects::Command command;
    objects::Identity who;
    sched::Instant now{};
};

// Executes the request in one transaction. Changes of the plugin's own objects are only staged.
using ManagerHandler = objects::Result<objects::Reply> (*)(objects::Store& store,
                                                           const ManagerRequest& request);

// The handlers of the object types, which handler_of() in manager.cc lists.
// For objects that only the plugin's store has: policies, time_windows, fs_groups and quotas.
objects::Result<objects::Reply> manage_own_object(objects::Store& store, const ManagerRequest& request);
// For queues and nodes, which the host makes and deletes: the plugin has an attribute of queues
// (time_window), and writes the host's changes into the history. A new queue inherits nothing from an earlier
// queue of its name. A queue that a policy names can't be deleted.
objects::Result<objects::Reply> manage_host_object(objects::Store& store, const ManagerRequest& request);
// For resources, which belong to the host. One that a policy, fs_group or quota names can't be deleted.
objects::Result<objects::Reply> manage_resource(objects::Store& store, const ManagerRequest& request);
// For the server: its non_work_days. Its deprecated job_sort_formula belongs to the host, and is only checked
// here. The one server object can't be created or deleted.
objects::Result<objects::Reply> manage_server(objects::Store& store, const ManagerRequest& request);
// For schedulers: their policies, and attributes that are a policy's here but a scheduler's in OpenPBS.
objects::Result<objects::Reply> manage_sched(objects::Store& store, const ManagerRequest& request);

// Returns the client's identity in the store's type.
objects::Identity identity(const pbs_identity& who);

// Returns the host's own changes in the request; nullopt: the request is malformed.
std::optional<std::vector<objects::HostChange>> host_changes(const pbs_manager_request& request);

// Begins the work in a thread if no other work is in one. Replies PBSE_TRYAGAIN, so that the host repeats its
// call.
int32_t try_again(State& state, std::uint64_t ticket, LongChange::Work work, Reply reply);

// Implements pbs_plugin::manager. Returns 0, or the PBSE_ number that it has put into the reply.
int32_t manager(State& state, const pbs_manager_request* request, Reply reply);

}  // namespace pbs::plugin
