// Counts of jobs by state.
#pragma once

#include <string_view>

#include "tools/web/page.h"

namespace pbs::web {

/// "Transit:0 Queued:1 Held:0 ..." as {"Transit": 0, "Queued": 1, ...}.
Json counts_of(std::string_view state_count);

}  // namespace pbs::web
