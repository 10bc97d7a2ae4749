// Gives a PBS server the objects that a Grid Engine's configuration became.
#pragma once

#include "migrate/changes.h"
#include "migrate/grid_engine/grid_engine.h"

namespace pbs::migrate {

void convert_grid_engine(Changes& to, const GridEngine& files);

}  // namespace pbs::migrate
