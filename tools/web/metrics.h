// Converts a server's counters to metrics.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "ifl/pbs_ifl.h"

namespace pbs::web {

/// Makes the metrics from a server's answers: `counters`, the part of that name of pbs_statdiagnosis(),
/// `scheds`, its schedulers, and `quotas`, the counters of each scheduler's quotas. If the server can't be
/// reached, `counters` and `scheds` are NULL, and pbs_up is 0. A server without counters, such as OpenPBS's,
/// has only `scheds`.
std::string metrics(const batch_status* counters, const batch_status* scheds,
                    std::span<const std::pair<std::string, const batch_status*>> quotas = {});

}  // namespace pbs::web
