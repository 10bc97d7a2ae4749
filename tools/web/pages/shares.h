// The page Shares: the trees of fair shares.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// `groups` are the fs_groups; NULL: there are none.
Answer shares_answer(const SiteView& site, const batch_status* groups);

}  // namespace pbs::web
