// The page Now: the policy in force and what changes next, jobs by queue, and vnodes.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer. `vnodes` is NULL if there are none.
Answer now_answer(const SiteView& site, const batch_status* vnodes);

}  // namespace pbs::web
