// Converts the files of schedulers beside `default`: their objects get the scheduler's name.
#pragma once

#include <string>

#include "migrate/convert.h"

namespace pbs::migrate {

// Renames a conversion that was made from another scheduler's files as if they were those of `default` on a
// fresh server. The policies become NAME_policy and so on, the fs_group NAME_fs_group, and scheduler `name`
// gets the policies. Time_windows and the server's attributes are left out, since those of `default` hold for
// all schedulers. The ledger is dropped: a repeated migration is about `default`.
Conversion of_sched(Conversion made, const std::string& name);

}  // namespace pbs::migrate
