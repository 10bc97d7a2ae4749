// Whether a database is the server's alone: who could change it could make the server start programs.
#pragma once

#include <optional>
#include <string>

namespace pbs::sqlite {

// Looks at the file of a database and at those beside it (-wal, -shm, -journal, -mark), as far as they are
// there. Each has to be a regular file, no link, that belongs to root, to this process's user or to the owner
// of the folder, and that nobody else may write. What is wrong, as a sentence that begins with the path;
// nullopt: nothing.
std::optional<std::string> untrusted(const std::string& database);

}  // namespace pbs::sqlite
