// The page What if: which policies and months can be compared.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// `days` is what pbs_stataccounting() tells of the days; NULL: there are none, and `error` is why.
Answer what_if_answer(const SiteView& site, const batch_status* days, const std::string& error);

}  // namespace pbs::web
