// Keeps the file DATABASE-mark: it has the number of the last acknowledged commit, outside of the database
// and of its write-ahead log.
//
// Two slots of 512 bytes, at 0 and at 4096, are written in turn, so that a write that is cut short leaves the
// other one. A slot is one line of text, filled up with spaces: "pbs-mark 1", then generation, number,
// position, checkpointed and unfinished as below, and a checksum (FNV-1a, 64 bits, in hexadecimal digits) of
// all that is before it. The slot with the higher generation counts.
//
// At 12288 the file names the process that opened the database last, by one line of text: "pbs-user 1", the
// machine's boot id, the process id, the process's start in clock ticks since the boot, and the host's name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sqlite/result.h"

namespace pbs::sqlite {

struct Mark {
    std::int64_t generation = 0;    // counts the changes of the mark
    std::int64_t number = 0;        // number of the last acknowledged commit; commits are counted from 1
    std::int64_t position = 0;      // position of that commit, in the unit of the program that keeps the
                                    // database
    std::int64_t checkpointed = 0;  // number of the last commit of which the database file has everything
    bool unfinished = false;        // a later checkpoint has begun: the file alone may be a mixture of two
                                    // states
};

std::string mark_path(const std::string& database);

// The mark of a database; nullopt: there is none. Errors: the mark is damaged, or can't be read.
Result<std::optional<Mark>> read_mark(const std::string& database);

class MarkFile {
  public:
    // Opens the mark; makes it if there is none, and returns when it is on the disk.
    static Result<MarkFile> open(const std::string& database);
    MarkFile(MarkFile&& other) noexcept;
    MarkFile& operator=(MarkFile&&) = delete;
    ~MarkFile();

    // Changes the mark, and returns when the change is on the disk. Locks out other processes meanwhile.
    Result<void> change(const std::function<void(Mark&)>& work);

    // Takes the right to copy the log into the database. Only one connection of all processes has it at a
    // time, so that the mark is right about the copy. False: another one has it, or the lock failed. The
    // right ends with end_turn(), or when the file is closed.
    bool take_turn();
    void end_turn();

    // Writes this process into the mark, as the one that has opened the database last, and returns when that
    // is on the disk.
    Result<void> take_over();
    // Returns the process that has opened the database since take_over(), if it isn't this one, as in
    // "process 17 on host b". It has been let in where locks don't hold, as on some network file systems:
    // this process must not write any more. nullopt also if the mark can't be read.
    std::optional<std::string> later_user() const;

  private:
    MarkFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    bool turn(short type);
    std::string path_;
    int fd_;
    std::string user_;  // this process, as take_over() has written it
};

}  // namespace pbs::sqlite
