// Reads counts of jobs by state.
#pragma once

#include <string_view>

#include "tools/web/page.h"

namespace pbs::web {

/// Converts "Transit:0 Queued:1 Held:0 ..." to {"Transit": 0, "Queued": 1, ...}.
Json counts_of(std::string_view state_count);

}  // namespace pbs::web
