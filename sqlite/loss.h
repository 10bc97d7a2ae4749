// Has a database lost something that it was told to keep?
//
// Each commit is numbered, in the database (table last_commit) and, once it is on the disk, in the mark
// beside it (mark.h), and only then acknowledged. So a database whose number is lower than its mark's has
// lost acknowledged commits: its write-ahead log was damaged, cut or deleted, where SQLite goes on silently
// with what it finds whole; or an older copy was put in its place. What a crash kept from being acknowledged,
// however torn, has no mark and is no loss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/result.h"

namespace pbs::sqlite {

class Connection;

// What the database says of itself; nullopt: its table last_commit isn't there, so that its commits
// weren't numbered yet, as with number 0 (a new one, a backup, or an older program's). Errors: SQLite's text.
struct Numbered {
    std::int64_t number = 0;
    std::int64_t position = 0;
};
Result<std::optional<Numbered>> numbered(Connection& connection);

struct Loss {
    // The end of a sentence that begins with the path, "has lost ...": how many commits are lost, where the
    // log ends, and from when the mark is.
    std::string text;
    // The database file itself is in a later state than the write-ahead log would bring it to. accept_loss()
    // removes the log then.
    bool without_log = false;
    // A checkpoint was cut short: what is left may be a mixture of states.
    bool mixed = false;
    // Both are there: the positions between which commits are lost.
    std::optional<std::int64_t> has{};
    std::optional<std::int64_t> had{};
};

// Looks, and changes nothing; another process may be writing. `position_name` says what the position counts:
// "revision". nullopt: nothing is lost. Errors: the database can't be read.
Result<std::optional<Loss>> find_loss(const std::string& database, std::string_view position_name);

// Goes on with what is left: the mark of the lost commits is removed, and commits are numbered anew. Nobody
// else may have the database open. First the database, its log and its mark are copied into the folder
// `aside`, which has to be there. Errors: what is left isn't whole in itself, or can't be written; but for
// the copies, nothing has changed then.
Result<void> accept_loss(const std::string& database, const Loss& loss, const std::string& aside);

// To be called for a copy of a database: its commits aren't numbered any more, so that no mark is compared
// with it.
Result<void> forget_numbers(Connection& connection);

}  // namespace pbs::sqlite
