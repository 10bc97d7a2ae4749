// Checks that nobody but the server can write a database: whoever can write it can make the server start
// programs.
#pragma once

#include <optional>
#include <string>

namespace pbs::sqlite {

// Checks the file of a database, and those beside it that exist (-wal, -shm, -journal, -mark). Each has to be
// a regular file, not a symbolic link, that belongs to root, to this process's user or to the owner of the
// folder, and that nobody else may write. Returns the first fault as a sentence that begins with the path;
// nullopt: there is none.
std::optional<std::string> untrusted(const std::string& database);

}  // namespace pbs::sqlite
