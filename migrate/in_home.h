// A home whose server isn't running. Of the program pbs_migrate.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "migrate/problem.h"
#include "objects/store.h"

namespace pbs::migrate {

// Opens the store of a home and hands it to `work`, while no server can start there. Problems: the folder is
// no home or another user's, a server runs on it, its restore is unfinished, the store can't be opened; and
// those of the work.
Result<void> with_home(const std::string& home, const std::function<Result<void>(objects::Store&)>& work);

// Who the history names as the author of changes to a home whose server is down: a manager, because whoever
// may write the file may change all of it.
objects::Identity identity_here();

}  // namespace pbs::migrate
