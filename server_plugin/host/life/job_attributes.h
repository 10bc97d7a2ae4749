// Sets attributes of jobs, as requested by QueueJob and ModifyJob.
#pragma once

#include "ifl/attribute.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Checks and applies one attribute. `rights` are write flags of AttributeFlag. PBSE_NOATTR, PBSE_ATTRRO,
// PBSE_NOSUP (an attribute of PBS that this server doesn't support), PBSE_BADATVAL, PBSE_UNKRESC.
Result<void> set_job_attribute(Job& job, const ifl::Attribute& change, uint32_t rights, const State& state);

}  // namespace pbs::host
