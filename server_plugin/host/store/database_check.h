// Checks whether the databases of a home are whole, before a start opens them and without changing them.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/home.h"
#include "sqlite/loss.h"

namespace pbs::host {

// Says what is wrong with a database file, as the end of a sentence that begins with its path ("is damaged:
// ..."); nullopt: it is whole, empty, or doesn't exist. `newest` is the newest known version of its format
// (0: any).
std::optional<std::string> wrong_with_database(const std::string& path, int64_t newest);

// Checks both databases of the home. It is an error if one is missing or empty while the other has data, once
// a server has been ready here (before that, pbs_migrate or a first start that was cut short may have made
// one); and if one has lost committed changes (sqlite/loss.h). Both missing, without their marks, is a new
// home. The error says which file, what is wrong with it, and how to restore a backup.
Result<void> check_databases(const Home& home);

// Checks the same, but reads all of the server's database in a thread, since that takes long with a million
// jobs. Wait for its outcome before you change anything.
Result<std::future<Result<void>>> begin_check(const Home& home);

// The committed changes that a database of the home has lost; nullopt: none.
Result<std::optional<sqlite::Loss>> find_loss(const Home& home, const std::string& path);

// The advice "To go on with a backup: pbs_server ...".
std::string restore_advice(const Home& home);

}  // namespace pbs::host
