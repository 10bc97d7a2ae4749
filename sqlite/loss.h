// Has a database lost something that it was told to keep?
//
// Each commit is numbered, in the database (table last_commit) and, once it is on the disk, in the mark
// beside it (mark.h), and only then acknowledged. So a database whose number is lower than its mark's has
// lost acknowledged commits: its write-ahead log was damaged, cut or deleted, where SQLite goes on silently
// with what it finds whole; or an older copy was put in its place. What a crash kept from being acknowledged,
// however torn, has no mark and is no loss.
#ifndef PBSPOLICY_SQLITE_LOSS_H
#define PBSPOLICY_SQLITE_LOSS_H

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
    // A sentence's end, as in "PATH has lost ...": how many commits, where the log ends, and of what date the
    // mark is.
    std::string text;
    // The write-ahead log hides a later state that is in the database file: it is better left out.
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

// Takes what is left for all there is, and what was lost for lost: afterwards commits are numbered anew.
// Nobody else may have the database open. First the database, its log and its mark are copied into the folder
// `aside`, which is there. What is left must be whole in itself. Errors: nothing has changed, but for the
// copies.
Result<void> accept_loss(const std::string& database, const Loss& loss, const std::string& aside);

// For a copy of a database: its commits aren't numbered any more.
Result<void> forget_numbers(Connection& connection);

}  // namespace pbs::sqlite

#endif
