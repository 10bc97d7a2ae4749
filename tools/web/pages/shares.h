// The page Shares: the trees of fair shares with their usage.
#pragma once

#include <vector>

#include "ifl/cmds/fairshare_format.h"
#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer. `groups` are the fs_groups; NULL: there are none. `usage` has the trees of all
/// schedulers.
Answer shares_answer(const SiteView& site, const batch_status* groups,
                     const std::vector<cmds::ShareTree>& usage = {});

}  // namespace pbs::web
