// object=fairshare: a scheduler's trees of shares with their usage, and changes to them.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Answers with the trees of a scheduler, as pbs_statfairshare() in ifl/pbs_ifl.h describes: managers see all
// elements, others their own entities and the groups above them. A request with a ticket is answered a part
// at a time, as pbs_plugin::status describes. Errors: PBSE_UNKSCHED, PBSE_FS_GROUP_NOT_FOUND, PBSE_IVALREQ
// for other options; PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_fair_share(State& state, const pbs_status_request& request, Reply reply);

// Manager SET on PBS_OBJ_FAIRSHARE, for managers: `usage` with an entity as its resource, as often as wanted,
// or one of `decay` and `trim`; with `fs_group` where the scheduler keeps the usage of several. The store has
// the changes before the request is answered. With a ticket, the host is to ask again while the scheduler is
// at work.
int32_t manage_fair_share(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                          Reply reply);

}  // namespace pbs::plugin
