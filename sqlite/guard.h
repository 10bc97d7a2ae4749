// Numbers the commits of a database and keeps its mark (loss.h), while it is open.
//
// The order is: SQLite brings the commit to the disk, the mark is brought there, and only then is the commit
// acknowledged. A crash in between leaves more in the database than was acknowledged, never less. A commit
// that nobody is told of may be brought there later, with the next one or a checkpoint: it has no mark until
// then.
//
// Checkpoints are made here, not by SQLite itself, so that the mark says when the database file may hold half
// of one: a log that is gone then is a loss though the number is right. They are made in a thread, beside the
// commits, which don't wait for what they bring to the disk. A log that commits go on adding to meanwhile
// doesn't begin anew: only a very long one is copied to its end by a commit, which then waits for the last
// part of it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "sqlite/connection.h"
#include "sqlite/mark.h"

namespace pbs::sqlite {

class Guard {
  public:
    // Begins, with a connection in WAL mode and synchronous=FULL that leaves checkpoints
    // (Connection::leave_checkpoints), and whose other tables are made. The connection has to outlive the
    // guard, and to stay where it is.
    static Result<std::unique_ptr<Guard>> begin(Connection& connection, const std::string& database);
    // Makes a last checkpoint; without one, closing the connection leaves the log.
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // Before a transaction begins; `later`: a crash of the machine may undo it, while the end of the process
    // doesn't. Errors: the mark of an earlier commit couldn't be brought to the disk and still can't: until
    // it is, nothing more is acknowledged.
    enum class Durable { now, later };
    Result<void> before_transaction(Durable durable = Durable::now);

    // Says what the next commit reaches, such as a revision or the number of the next job. Messages about a
    // loss name it.
    void reached(std::int64_t position) { position_ = position; }

    // Commits the transaction. True: the commit and its mark are on the disk; false: the connection says why
    // not. Only when the mark alone can't be written, the commit holds without it (see before_transaction()).
    // A log that has become long is copied into the database then, beside later commits; or `later`: by a
    // later commit, or the end.
    enum class Checkpoint { now, later };
    bool commit(Checkpoint checkpoint = Checkpoint::now);

    // Waits for a checkpoint that is on its way.
    void wait_for_checkpoint();

    // Another guard of this process has made the last commit.
    void follow(const Guard& other);

  private:
    Guard(Connection& connection, std::string database, MarkFile mark)
        : connection_(connection), database_(std::move(database)), mark_(std::move(mark)) {}
    void mark_commit();
    void shorten_log();
    void end_checkpoint();
    void checkpoint();
    void checkpoint_in_thread();

    // Copies the log on a connection of its own. Once it is over, the thread uses this no more.
    struct Copying {
        int frames = 0;     // that the log had when it began
        bool done = false;  // all of them are copied
        std::atomic<bool> over = false;
        std::thread thread;
    };

    Connection& connection_;
    std::string database_;
    MarkFile mark_;
    Durable durable_ = Durable::now;  // the transaction, or the last one
    std::int64_t changes_ = 0;        // Connection::changes() when the transaction began
    std::int64_t number_ = 0;         // of the last commit
    std::int64_t position_ = 0;
    int log_frames_ = 0;     // what SQLite said after the last commit
    int old_frames_ = 0;     // of them, those that are no reason for another checkpoint
    bool unmarked_ = false;  // the last commit's mark couldn't be written
    bool complete_ = false;  // the last checkpoint left nothing in the log, and nothing came after it
    std::unique_ptr<Copying> copying_;
    std::thread ending_;  // of a checkpoint that is over
};

}  // namespace pbs::sqlite
