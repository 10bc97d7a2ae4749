// Answers requests about fair shares. Status requests with the extend string object=fairshare show a
// scheduler's trees of shares with their usage. Manager requests change the usage.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Replies with the trees of a scheduler, as pbs_statfairshare() in ifl/pbs_ifl.h describes. Managers see all
// elements, other users their own entities and the groups above these. If the request has a ticket, the reply
// comes in parts, as pbs_plugin::status describes. Errors: PBSE_UNKSCHED, PBSE_FS_GROUP_NOT_FOUND,
// PBSE_IVALREQ for other options; PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_fair_share(State& state, const pbs_status_request& request, Reply reply);

// Manager SET on PBS_OBJ_FAIRSHARE, for managers. Its attributes are any number of `usage`, with an entity as
// resource, or one of `decay` and `trim`; and `fs_group`, if the scheduler has usage of several groups. The
// changes are in the store before the reply. With a ticket, the host repeats its call while the scheduler is
// busy.
int32_t manage_fair_share(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                          Reply reply);

}  // namespace pbs::plugin
