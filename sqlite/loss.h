// Finds out whether a database has lost acknowledged commits.
//
// Each commit is numbered, in the database (table last_commit) and, once it is on the disk, in the mark
// beside it (mark.h), and only then acknowledged. So a database with a lower number than its mark has lost
// acknowledged commits: its write-ahead log was damaged, cut or deleted, where SQLite silently continues with
// the part that is whole; or an older copy was put in its place. A commit that a crash kept from being
// acknowledged, however torn, has no mark and is no loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/result.h"

namespace pbs::sqlite {

class Connection;

// The number of a commit, and the position that it reached (Guard::reached).
struct Numbered {
    std::int64_t number = 0;
    std::int64_t position = 0;
};
// Returns the number and position of the last commit. nullopt: the table last_commit doesn't exist, so
// commits aren't numbered yet; that counts as number 0 (a new database, a backup, or an older program's).
// Errors: SQLite's text.
Result<std::optional<Numbered>> numbered(Connection& connection);

struct Loss {
    // The rest of a sentence that begins with the database's path, "has lost ...": how many commits are lost,
    // where the log ends, and the mark's date.
    std::string text;
    // The database file alone is in a later state than with the write-ahead log. accept_loss() then removes
    // the log.
    bool without_log = false;
    // A checkpoint was interrupted: the database may be a mixture of two states.
    bool mixed = false;
    // The positions of the database's last commit and of the mark's: the commits between them are lost. `had`
    // is nullopt if the mark is gone or damaged.
    std::optional<std::int64_t> has{};
    std::optional<std::int64_t> had{};
};

// Looks for a loss without changing anything; another process may be writing. `position_name` is the noun for
// positions in messages: "revision". nullopt: nothing is lost. Errors: the database can't be read.
Result<std::optional<Loss>> find_loss(const std::string& database, std::string_view position_name);

// Accepts the loss: removes the mark of the lost commits and numbers commits anew. Nobody else may have the
// database open. First copies the database, its log and its mark into the folder `aside`, which has to exist.
// Errors: a file can't be copied or written, or what is left of the database is damaged; the mark then stays,
// so that the loss is found again. If the log has been removed by then, the error names the folder of its
// copy.
Result<void> accept_loss(const std::string& database, const Loss& loss, const std::string& aside);

// Resets the numbers in a copy of a database, so that it isn't compared with any mark.
Result<void> forget_numbers(Connection& connection);

}  // namespace pbs::sqlite
