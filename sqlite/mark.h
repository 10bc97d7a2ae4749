// DATABASE-mark: what a database was told to keep, kept outside of the database and of its write-ahead log.
//
// Two slots of 512 bytes, at 0 and at 4096, are written in turn, so that a write that is cut short leaves the
// other one. A slot is one line of text, filled up with spaces: "pbs-mark 1", then generation, number,
// position, checkpointed and unfinished as below, and a sum (FNV-1a, 64 bits, in hexadecimal digits) of all
// that is before it. The slot with the higher generation counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sqlite/result.h"

namespace pbs::sqlite {

struct Mark {
    std::int64_t generation = 0;    // of the mark itself
    std::int64_t number = 0;        // of the last commit that was acknowledged; commits are counted from 1
    std::int64_t position = 0;      // what that commit reached, in the terms of who keeps the database
    std::int64_t checkpointed = 0;  // the commit up to which all is in the database file
    bool unfinished = false;        // a later checkpoint has begun: the file alone may be half of two states
};

std::string mark_path(const std::string& database);

// The mark of a database; nullopt: it has none. Errors: it is damaged, or can't be read.
Result<std::optional<Mark>> read_mark(const std::string& database);

class MarkFile {
  public:
    // Opens the mark, making it (on the disk when this returns) if there is none.
    static Result<MarkFile> open(const std::string& database);
    MarkFile(MarkFile&& other) noexcept;
    MarkFile& operator=(MarkFile&&) = delete;
    ~MarkFile();

    // Changes what the mark says; it is on the disk when this returns. Another process may do the same: they
    // take turns.
    Result<void> change(const std::function<void(Mark&)>& work);

    // Takes the turn to copy the log into the database. One connection at a time has it, of all processes, so
    // that what the mark says of the copying is right. False: another one has it, or that can't be found out.
    // The turn ends with end_turn(), or when the file is closed.
    bool take_turn();
    void end_turn();

  private:
    MarkFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    bool turn(short type);
    std::string path_;
    int fd_;
};

}  // namespace pbs::sqlite
