// Checks whether the databases of a PBS_HOME are intact, before the server opens them and without changing
// them.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/home.h"
#include "sqlite/loss.h"

namespace pbs::host {

// Describes the damage of a database file, as the end of a sentence that begins with its path ("is damaged:
// ..."); nullopt: the file is intact, empty, or missing. `newest`: the newest known version of its format; 0:
// accept any.
std::optional<std::string> wrong_with_database(const std::string& path, int64_t newest);

// Checks both databases of the home. It is an error if a database has lost committed changes (sqlite/loss.h).
// It is also an error if one database is missing or empty while the other has data, once a server has been
// ready here; before that, pbs_migrate or an interrupted first start may have made only one. A home without
// databases and without the files that mark their commits is new. The error names the file and what is wrong
// with it, and says how to restore a backup.
//
// Reads the contents of server.db in a thread, because that takes long with a million jobs. The caller must
// change nothing in the home before the outcome is known.
Result<std::future<Result<void>>> begin_check(const Home& home);

// Returns the committed changes that a database of the home has lost; nullopt: none.
Result<std::optional<sqlite::Loss>> find_loss(const Home& home, const std::string& path);

// Returns the advice "To go on with a backup: pbs_server ...".
std::string restore_advice(const Home& home);

}  // namespace pbs::host
