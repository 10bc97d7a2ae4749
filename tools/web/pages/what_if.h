// The page What if: the policies that can be compared, and the months for which they can.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer. `days` is the result of pbs_stataccounting() on days; NULL: there are none, and `error`
/// says why.
Answer what_if_answer(const SiteView& site, const batch_status* days, const std::string& error);

}  // namespace pbs::web
