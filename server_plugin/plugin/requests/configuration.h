// Requests about the whole configuration and its history: the object types PBS_OBJ_CONFIGURATION and
// PBS_OBJ_HISTORY. ifl/pbs_ifl.h describes them for clients.
#pragma once

#include <cstdint>

#include "objects/restore.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Manager SET on PBS_OBJ_CONFIGURATION, for managers only. Its attributes are one of `revision`, `import` and
// `replace`, and perhaps `dry_run`: the reply's warnings are then lines about each change, of which those
// that warn begin with "Warning: ". Or they are `migrate.KIND` for each legacy file of a migration, and
// perhaps `infer`, `dry_run` and `format`: the reply's warning is then the report.
//
// With a ticket (not 0) a thread does the work: the reply makes the host repeat its call, until
// finish_configuration() makes the last reply.
int32_t manage_configuration(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                             Reply reply);
int32_t finish_configuration(State& state, const objects::Result<objects::Rewritten>& done,
                             sched::Instant now, Reply reply);
// Returns whether the request migrates past usage. The scheduler has past usage, so it must be free at the
// request's beginning and end.
bool needs_scheduler(const pbs_manager_request& request);

// Replies with objects of the configuration, and with rows of the history; to operators and managers only,
// because the history names the users and hosts of changes, and past configurations come from it.
int32_t status_configuration(State& state, const pbs_status_request& request, Reply reply);
int32_t status_history(State& state, const pbs_status_request& request, Reply reply);

}  // namespace pbs::plugin
