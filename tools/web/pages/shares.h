// The page Shares: trees of fair shares.
#pragma once

#include <vector>

#include "ifl/cmds/fairshare_format.h"
#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer. `groups` are the fs_groups; NULL: there are none. `usage` has the schedulers' trees.
Answer shares_answer(const SiteView& site, const batch_status* groups,
                     const std::vector<cmds::ShareTree>& usage = {});

}  // namespace pbs::web
