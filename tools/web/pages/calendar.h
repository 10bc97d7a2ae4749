// The page Calendar: a month of policies, windows, non-work days and reservations.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// `month` is YYYY-MM; empty: that of now. `reservations` may be NULL.
Answer calendar_answer(const SiteView& site, const batch_status* reservations, const std::string& month);

}  // namespace pbs::web
