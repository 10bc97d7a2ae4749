// Converts the files of a scheduler other than `default`: its objects get names that contain the scheduler's.
#pragma once

#include <string>

#include "migrate/convert.h"

namespace pbs::migrate {

// Renames the objects of a conversion of another scheduler's files, which was made as if for `default` on a
// fresh server. The policies become NAME_policy and so on, the fs_group NAME_fs_group, and scheduler `name`
// gets the policies. Time_windows and the server's attributes are left out, since those of `default` hold for
// all schedulers. The ledger is left out, because a repeated migration is about `default`.
Conversion of_sched(Conversion made, const std::string& name);

}  // namespace pbs::migrate
