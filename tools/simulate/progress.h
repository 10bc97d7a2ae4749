// A bar on a terminal that shows how far a simulation is.
#pragma once

#include <string>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"

namespace pbs::simulate {

// "[#########           ]  45%  2026-11-23 08:00  title", as wide as `columns`.
std::string progress_line(const std::string& title, const Progress& progress, const rrule::Zone& zone,
                          std::size_t columns);

}  // namespace pbs::simulate
