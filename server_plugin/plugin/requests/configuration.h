// Requests about the whole configuration and its history: the object types PBS_OBJ_CONFIGURATION and
// PBS_OBJ_HISTORY. pbs_ifl.h describes them as a client makes them.
#pragma once

#include <cstdint>

#include "objects/restore.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Manager SET on PBS_OBJ_CONFIGURATION, for managers only. Attributes: one of `revision`, `import` and
// `replace`, and `dry_run`; the warnings of the reply are then lines about each change, beginning with
// "Warning: " if they warn. Or `migrate.KIND` for each legacy file of a migration, with `infer`, `dry_run`
// and `format`; the warning of the reply is then the report.
//
// With a ticket (0: none), a thread does the work: the reply makes the host repeat its call, and
// finish_configuration() makes the last reply.
int32_t manage_configuration(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                             Reply reply);
int32_t finish_configuration(State& state, const objects::Result<objects::Rewritten>& done,
                             sched::Instant now, Reply reply);
// Does the request migrate past usage, which is in the scheduler? Then the scheduler has to be free at the
// beginning and at the end.
bool needs_scheduler(const pbs_manager_request& request);

// For operators and managers only, because the history names the users and hosts of changes, and a past
// configuration comes from the history.
int32_t status_configuration(State& state, const pbs_status_request& request, Reply reply);
int32_t status_history(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
