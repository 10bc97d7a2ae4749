// Draws a progress bar on a terminal.
#pragma once

#include <string>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"

namespace pbs::simulate {

// Formats a bar of `columns` characters: "[#########           ]  45%  2026-11-23 08:00  title".
std::string progress_line(const std::string& title, const Progress& progress, const rrule::Zone& zone,
                          std::size_t columns);

}  // namespace pbs::simulate
