#include "sqlite/guard.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "sqlite/loss.h"
#include "sqlite/wal.h"

namespace pbs::sqlite {
namespace {

// The number of frames (pages) in the log at which a checkpoint begins: SQLite's own measure, some 4 MB.
constexpr int kFramesToCheckpoint = 1000;
// The number of frames at which a commit itself copies the log, so that the log can begin anew: some 256 MB.
constexpr int kLongestLog = 65'536;
// The number of frames to be added before another try, if a reader kept the log from being copied completely.
constexpr int kFramesToTryAgain = 100;

constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS last_commit("
    "  one INTEGER PRIMARY KEY CHECK(one = 1),"
    "  number INTEGER NOT NULL,"
    "  position INTEGER NOT NULL);"
    "INSERT OR IGNORE INTO last_commit VALUES(1, 0, 0);";

int note_frames(void* frames, sqlite3*, const char*, int count) {
    *static_cast<int*>(frames) = count;
    return SQLITE_OK;
}

}  // namespace

Result<std::unique_ptr<Guard>> Guard::begin(Connection& connection, const std::string& database) {
    auto mark = MarkFile::open(database);
    if (!mark) return tl::unexpected(mark.error());
    std::unique_ptr<Guard> guard(new Guard(connection, database, std::move(*mark)));
    auto found = numbered(connection);
    if (!found) return tl::unexpected(found.error());
    if (!*found) {
        if (auto made = connection.run(kTable); !made) return tl::unexpected(made.error());
        found = Numbered{};
    }
    guard->number_ = (*found)->number;
    guard->position_ = (*found)->position;
    if (auto taken = guard->mark_.take_over(); !taken) return tl::unexpected(taken.error());
    sqlite3_wal_hook(connection.get(), note_frames, &guard->log_frames_);
    const auto marked = read_mark(database);
    if (!marked) return tl::unexpected(marked.error());
    if (*marked && (*marked)->unfinished) guard->checkpoint();
    return guard;
}

Guard::~Guard() {
    wait_for_checkpoint();
    if (ending_.joinable()) ending_.join();
    try {
        rolled_back();
        checkpoint();
    } catch (const std::bad_alloc&) {
        complete_ = false;  // SQLite then keeps the log when the connection is closed
    }
    sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, complete_ ? 0 : 1, nullptr);
    sqlite3_wal_hook(connection_.get(), nullptr, nullptr);
}

Result<void> Guard::before_transaction(Durable durable) {
    if (const auto other = mark_.later_user())
        return tl::unexpected(
            fmt::format("{} is in use by {}, which has opened it later: nothing is written here any more",
                        database_, *other));
    rolled_back();
    if (durable_ != durable) {
        auto done = connection_.run(durable == Durable::now ? "PRAGMA synchronous = FULL"
                                                            : "PRAGMA synchronous = NORMAL");
        if (!done) return done;
        durable_ = durable;
    }
    if (unmarked_) {
        auto done = mark_.change([this](Mark& mark) {
            mark.number = std::max(mark.number, number_);
            mark.position = std::max(mark.position, position_);
        });
        if (!done) return done;
        unmarked_ = false;
    }
    changes_ = connection_.changes();
    return {};
}

bool Guard::commit(Checkpoint when) {
    const bool changed = connection_.changes() != changes_;
    std::int64_t number = 0;
    if (changed) {
        Statement count = connection_.statement(
            "UPDATE last_commit SET number = number + 1, position = ? RETURNING number");
        if (count.bind(position_).next()) {
            number = count.integer(0);
            count.next();
        }
        if (!count.ok()) return false;
    }
    {
        Statement commit = connection_.statement("COMMIT");
        commit.next();
        if (!commit.ok()) {
            failed_ = true;
            return false;
        }
    }
    // A commit without changes writes nothing in place of a refused one.
    if (!changed) return true;
    failed_ = false;
    number_ = number;
    committed_ = true;
    complete_ = false;
    // The change is made, so no lack of memory may refuse it: the next transaction writes the mark, and a
    // later commit shortens the log.
    try {
        if (durable_ == Durable::now) mark_commit();
        if (when == Checkpoint::now) shorten_log();
    } catch (const std::bad_alloc&) {
    }
    return true;
}

void Guard::rolled_back() {
    if (!failed_ || !is_ours()) return;
    if (!connection_.run("BEGIN IMMEDIATE; UPDATE last_commit SET number = number + 1; COMMIT")) {
        connection_.roll_back();
        return;
    }
    failed_ = false;
    ++number_;
    committed_ = true;
    complete_ = false;
}

void Guard::shorten_log() {
    if (copying_ && copying_->over) {
        // The copying thread is about to end, but that may take a while on a busy machine: join it at the
        // next checkpoint.
        if (ending_.joinable()) ending_.join();
        ending_ = std::move(copying_->thread);
        end_checkpoint();
    }
    if (log_frames_ < old_frames_) old_frames_ = 0;  // the log has begun anew
    if (copying_ || log_frames_ - old_frames_ < kFramesToCheckpoint) return;
    if (log_frames_ < kLongestLog) return checkpoint_in_thread();
    checkpoint();
    if (log_frames_ > 0) old_frames_ = log_frames_ - kFramesToCheckpoint + kFramesToTryAgain;
}

void Guard::wait_for_checkpoint() {
    if (!copying_) return;
    copying_->thread.join();
    end_checkpoint();
}

void Guard::end_checkpoint() {
    old_frames_ = copying_->done ? copying_->frames
                                 : std::max(0, copying_->frames - kFramesToCheckpoint + kFramesToTryAgain);
    copying_.reset();
}

void Guard::follow(const Guard& other) {
    number_ = std::max(number_, other.number_);
    position_ = std::max(position_, other.position_);
    committed_ = true;
    complete_ = false;
    if (other.unmarked_) unmarked_ = true;
}

void Guard::mark_commit() {
    unmarked_ = true;
    unmarked_ = !mark_.change([this](Mark& mark) {
        // another process may have written the mark of a later commit already
        if (number_ <= mark.number) return;
        mark.number = number_;
        mark.position = position_;
    });
}

namespace {

// Writes into the mark that the database file has all commits up to `number`.
bool mark_copied(MarkFile& mark, std::int64_t number, std::int64_t position) {
    return mark
        .change([number, position](Mark& now) {
            now.unfinished = false;
            now.checkpointed = std::max(now.checkpointed, number);
            if (now.number >= number) return;
            now.number = number;
            now.position = position;
        })
        .has_value();
}

// Copies the log into the database file. All commits up to `number` must be in the log or in the file. True:
// the file has the whole log.
bool copy_log(const std::string& database, Connection& connection, MarkFile& mark, std::int64_t number,
              std::int64_t position) {
    // The log has to be on the disk before the mark says that it is needed.
    if (!sync_wal(database) || !mark.change([](Mark& now) { now.unfinished = true; })) return false;
    int frames = 0;
    int copied = 0;
    const int code =
        sqlite3_wal_checkpoint_v2(connection.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
    // `frames` is -1 if the connection doesn't know of a log
    if (code != SQLITE_OK || frames < 0 || frames != copied) return false;
    return mark_copied(mark, number, position);
}

// Ends the turn at the database file that was taken, also if an exception passes.
struct Turn {
    MarkFile& mark;
    ~Turn() { mark.end_turn(); }
};

// Copies the log in a thread, with its own connection and mark, because the committing thread goes on using
// its own.
bool copy_log_of(const std::string& database, std::int64_t number, std::int64_t position) {
    auto mark = MarkFile::open(database);
    if (!mark || !mark->take_turn()) return false;
    auto connection = Connection::open(database, Connection::Open::write);
    // read something first: a connection knows of the log only after that
    return connection && connection->run("PRAGMA synchronous = FULL; SELECT 1 FROM last_commit") &&
           copy_log(database, *connection, *mark, number, position);
}

}  // namespace

// Copies the log into the database file. A failure does no harm: the log grows, and a later commit tries
// again.
void Guard::checkpoint() {
    if (!is_ours()) {
        complete_ = false;
        return;
    }
    if (!mark_.take_turn()) return;
    const Turn turn{mark_};
    complete_ = false;
    if (!committed_ && extent_of_wal(database_).commits == 0) {
        // There is nothing to copy. Don't mark the beginning of a copy: the missing log would then count as a
        // loss.
        complete_ = mark_copied(mark_, number_, position_);
        return;
    }
    complete_ = copy_log(database_, connection_, mark_, number_, position_);
    if (complete_) log_frames_ = 0;
}

void Guard::checkpoint_in_thread() {
    copying_ = std::make_unique<Copying>();
    copying_->frames = log_frames_;
    // Give the copying thread the priority of this one: commits wait while the copying thread holds the mark.
    const int priority = ::getpriority(PRIO_PROCESS, 0);
    try {
        copying_->thread = std::thread(
            [&copying = *copying_, database = database_, number = number_, position = position_, priority] {
                (void)::setpriority(PRIO_PROCESS, 0, priority);
                try {
                    copying.done = copy_log_of(database, number, position);
                } catch (const std::bad_alloc&) {
                    // a later commit tries again
                }
                copying.over = true;
            });
    } catch (const std::system_error&) {
        copying_.reset();
        checkpoint();
    } catch (const std::bad_alloc&) {
        copying_.reset();  // a later commit tries again
    }
}

}  // namespace pbs::sqlite
