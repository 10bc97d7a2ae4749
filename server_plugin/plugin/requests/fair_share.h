// object=fairshare: the trees of shares of a scheduler with their usage, and changes of it.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the trees of a scheduler, as pbs_statfairshare() in ifl/pbs_ifl.h says: managers see all of
// them, others their own entities and the groups above. To a request with a ticket a part at a time, as
// pbs_plugin::status says. Errors: PBSE_UNKSCHED, PBSE_FS_GROUP_NOT_FOUND, PBSE_IVALREQ for other options;
// PBSE_TRYAGAIN, as BackgroundQueries say.
int32_t status_fair_share(State& state, const pbs_status_request& request, Reply reply);

// Manager SET on PBS_OBJ_FAIRSHARE, for managers: `usage` with an entity as its resource, as often as wanted,
// or one of `decay` and `trim`; with `fs_group` where the scheduler keeps the usage of several. What it
// changes is in the store when it is answered. With a ticket, the host is to ask again while the scheduler is
// at work.
int32_t manage_fair_share(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                          Reply reply);

}  // namespace pbs::plugin
