// The page Quotas: what running jobs use of the limits of quotas, by counter.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "tools/web/page.h"
#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer from the counters of each scheduler (pbs_statquotause).
Answer quotas_answer(const SiteView& site,
                     std::span<const std::pair<std::string, const batch_status*>> counters);

}  // namespace pbs::web
