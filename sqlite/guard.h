// Numbers the commits of an open database and keeps its mark (loss.h).
//
// The order of a commit: SQLite brings it to the disk, the mark is brought there, and only then is the commit
// acknowledged. A crash in between leaves more in the database than was acknowledged, never less. A commit
// that needn't be acknowledged may come to the disk later, with the next one or a checkpoint; until then it
// has no mark.
//
// Checkpoints are made here, not by SQLite itself, because the mark has to say when the database file may
// hold half a checkpoint: if the log is missing then, commits are lost even if the number of the last one is
// right. A thread makes checkpoints beside the commits, which don't wait for its writes. A log that grows
// while it is copied doesn't begin anew. Therefore a commit itself copies what remains of a very long log.
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
    // Makes a guard, which numbers the database's commits from now on, in a table of its own. The connection
    // must be in WAL mode with synchronous=FULL, and leave checkpoints to the guard
    // (Connection::leave_checkpoints). The database must already have the tables of its user. The connection
    // has to outlive the guard, and must not be moved.
    static Result<std::unique_ptr<Guard>> begin(Connection& connection, const std::string& database);
    // Makes a last checkpoint. If that fails, the log stays when the connection is closed.
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // The durability of a committed transaction. `later`: a crash of the machine may undo it, but not the end
    // of the process.
    enum class Durable { now, later };
    // Call it before a transaction begins. Errors: the mark of an earlier commit still can't be written to
    // the disk; until it can, nothing more is acknowledged. Or another process has begun to guard the
    // database since, which no lock has prevented: then this one writes nothing any more.
    Result<void> before_transaction(Durable durable = Durable::now);

    // Sets the position that the next commit reaches, such as a revision or the number of the next job.
    // Messages about a loss name it.
    void reached(std::int64_t position) { position_ = position; }

    // The time of the checkpoint that a long log needs. `now`: after the commit, a thread copies the log into
    // the database file if it has become long. `later`: a later commit does so, or the end of the guard.
    enum class Checkpoint { now, later };
    // Commits the transaction. True: the commit and its mark are on the disk (if only the mark can't be
    // written, the commit holds without it; see before_transaction()). False: the connection has the error.
    bool commit(Checkpoint checkpoint = Checkpoint::now);

    // Call it after a transaction whose commit has failed was rolled back. If only the sync of the log
    // failed, the log may hold the whole commit, and the next process that reads the log would take it for
    // done. So an empty commit is written in its place: now, or, if that fails, before the next transaction
    // or at the end of the guard.
    void rolled_back();

    // Waits for a checkpoint that is under way.
    void wait_for_checkpoint();

    // Takes over the numbers of another guard of this process, which made the last commit to the database.
    void follow(const Guard& other);

  private:
    Guard(Connection& connection, std::string database, MarkFile mark)
        : connection_(connection), database_(std::move(database)), mark_(std::move(mark)) {}
    bool is_ours() const { return !mark_.later_user(); }
    void mark_commit();
    void shorten_log();
    void end_checkpoint();
    void checkpoint();
    void checkpoint_in_thread();

    // The state of a copy of the log that a thread is making, on a connection of its own. After setting
    // `over` the thread doesn't touch this object.
    struct Copying {
        int frames = 0;     // frames in the log when the copy began
        bool done = false;  // all frames are copied
        std::atomic<bool> over = false;
        std::thread thread;
    };

    Connection& connection_;
    std::string database_;
    MarkFile mark_;
    Durable durable_ = Durable::now;  // of the current or last transaction
    std::int64_t changes_ = 0;        // Connection::changes() when the transaction began
    std::int64_t number_ = 0;         // number of the last commit
    std::int64_t position_ = 0;
    int log_frames_ = 0;      // frames in the log after the last commit, as SQLite reports them
    int old_frames_ = 0;      // how many of these frames, from the first on, don't count towards a checkpoint
    bool unmarked_ = false;   // the last commit's mark couldn't be written
    bool committed_ = false;  // something has been committed since begin()
    bool failed_ = false;     // the last commit has failed, and the log may hold it
    bool complete_ = false;   // the last checkpoint copied the whole log, and no commit followed
    std::unique_ptr<Copying> copying_;
    std::thread ending_;  // the thread of a finished checkpoint, which is still to be joined
};

}  // namespace pbs::sqlite
