// Tests of starts: may a job start at named places, by the policy plugin's filters?
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/reply.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Reads the places that a request names for a job: an exec_vnode, or vnodes without amounts, over which the
// job's chunks are distributed. Errors: as those of parse_exec_vnode(); PBSE_IVALREQ: the start is to be
// tested, and has more than ifl::kMostTestedPlaces places.
Result<std::vector<Place>> named_places(const Job& job, const State& state, std::string_view location,
                                        bool is_tested);

// Finds the job that an explanation of `id` is about; for a waiting subjob, its array. PBSE_UNKJOBID,
// PBSE_HISTJOBID, PBSE_PERM.
Result<const Job*> explained_job(const Context& context, std::string_view id);

// "object=explanation;location", with one attribute "location" whose value is the place: explains a start
// there, as described at pbs_asks() in ifl/pbs_ifl.h. Needs a plugin. Errors: PBSE_PERM unless the requester
// is a manager; PBSE_IVALREQ for another extend string or other attributes.
ifl::Reply explain_start(Context& context, std::string_view extend);

}  // namespace pbs::host
