// Changes the store of a home whose server isn't running. Part of the program pbs_migrate.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "migrate/problem.h"
#include "objects/store.h"

namespace pbs::migrate {

// Opens the store of a home and hands it to `work`, with the server locked out. Problems: the folder is no
// home or belongs to another user, a server runs on it, a restore is unfinished, the store can't be opened;
// and the problems of `work`.
Result<void> with_home(const std::string& home, const std::function<Result<void>(objects::Store&)>& work);

// Returns the author of changes to a home whose server is down, for the history. The author counts as a
// manager: whoever may write the file may change every object in it.
objects::Identity identity_here();

}  // namespace pbs::migrate
