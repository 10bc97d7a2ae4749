// Adds the objects that Grid Engine's configuration became to the changes of a migration.
#pragma once

#include "migrate/changes.h"
#include "migrate/grid_engine/grid_engine.h"

namespace pbs::migrate {

void convert_grid_engine(Changes& to, const GridEngine& files);

}  // namespace pbs::migrate
