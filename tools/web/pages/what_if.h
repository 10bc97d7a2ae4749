// The page What if: policies and months that can be compared.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer. `days` is the result of pbs_stataccounting() on days; NULL: there are none, `error` says
/// why.
Answer what_if_answer(const SiteView& site, const batch_status* days, const std::string& error);

}  // namespace pbs::web
