// Schedulers beside `default`: what their files say becomes objects with the scheduler's name.
#pragma once

#include <string>

#include "migrate/convert.h"

namespace pbs::migrate {

// `made` is a conversion of another scheduler's files as if they were those of `default`, on a fresh server.
// With `name` in that place: the policies NAME_policy and so on and the fs_group NAME_fs_group are made, and
// the scheduler gets the policies. Time_windows and the server's attributes are left out: those that
// `default` has are for all. There is no ledger of it: a repeated migration is about `default`.
Conversion of_sched(Conversion made, const std::string& name);

}  // namespace pbs::migrate
