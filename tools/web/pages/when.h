// The page When: running jobs, reservations and expected starts on vnodes, with windows in the background.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// The lists from which the page is made. NULL: an empty list.
struct Schedule {
    const batch_status* vnodes;
    const batch_status* running;
    const batch_status* expected;
    const batch_status* reservations;
};

/// Makes the answer: the schedule from a day ago until `days` from now.
Answer when_answer(const SiteView& site, const Schedule& schedule, std::int64_t days);

}  // namespace pbs::web
