// The page When: running jobs, reservations and expected starts on vnodes, with windows in the background.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// What it is made of. Each may be NULL: there are none.
struct Schedule {
    const batch_status* vnodes;
    const batch_status* running;
    const batch_status* expected;
    const batch_status* reservations;
};

/// The schedule from a day before now until `days` after it.
Answer when_answer(const SiteView& site, const Schedule& schedule, std::int64_t days);

}  // namespace pbs::web
