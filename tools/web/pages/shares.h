// The page Shares: the trees of fair shares.
#pragma once

#include <vector>

#include "ifl/cmds/fairshare_format.h"
#include "tools/web/site.h"

namespace pbs::web {

/// `groups` are the fs_groups; NULL: there are none. `usage` is what schedulers say of their trees.
Answer shares_answer(const SiteView& site, const batch_status* groups,
                     const std::vector<cmds::ShareTree>& usage = {});

}  // namespace pbs::web
