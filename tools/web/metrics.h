// Converts a server's counters to metrics.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "ifl/pbs_ifl.h"

namespace pbs::web {

/// Makes the metrics of a server's answers: `counters`, the part of that name of pbs_statdiagnosis(), and its
/// schedulers. Both are NULL if the server can't be reached: pbs_up is 0 then. A server without counters,
/// such as OpenPBS's, has only `scheds`.
std::string metrics(const batch_status* counters, const batch_status* scheds,
                    std::span<const std::pair<std::string, const batch_status*>> quotas = {});

}  // namespace pbs::web
