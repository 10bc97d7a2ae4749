// The page Calendar: a month of policies, windows, non-work days and reservations.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer for a month, YYYY-MM; empty: the present one. `reservations` may be NULL.
Answer calendar_answer(const SiteView& site, const batch_status* reservations, const std::string& month);

}  // namespace pbs::web
