// Are the databases of a home whole? Asked before a start opens them, without changing them.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/home.h"
#include "sqlite/loss.h"

namespace pbs::host {

// What is wrong with a database file, as the end of a sentence that begins with its path ("is damaged: ...");
// nullopt: it is whole, or it is no longer than 0 bytes, or it isn't there. `newest` is the newest version of
// its format that is known (0: any).
std::optional<std::string> wrong_with_database(const std::string& path, int64_t newest);

// Both databases of the home. One that is missing or empty while the other has data is an error once a server
// has been ready here (before that, pbs_migrate or a first start that was cut short may have made one of
// them); so is one that has lost what it was told to keep (sqlite/loss.h). Both missing, without their marks,
// is a new home. The error says which file, what is wrong with it, and how to get a
// backup back.
Result<void> check_databases(const Home& home);

// The same, but for what takes long where there are a million jobs: all of the server's database is read in a
// thread, whose outcome is to be awaited before anything is changed.
Result<std::future<Result<void>>> begin_check(const Home& home);

// What a database of the home has lost of what it was told to keep; nullopt: nothing.
Result<std::optional<sqlite::Loss>> find_loss(const Home& home, const std::string& path);

// "To go on with a backup: pbs_server ...".
std::string restore_advice(const Home& home);

}  // namespace pbs::host
