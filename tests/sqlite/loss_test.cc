// Damages copies of a database's files, in the state in which a crash leaves them. Checks which loss
// find_loss() reports for each.
#include "sqlite/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sqlite/connection.h"
#include "sqlite/guard.h"
#include "sqlite/wal.h"
#include "tests/file_text.h"

namespace pbs::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string bytes_of(const fs::path& path) {
    return pbs::test::file_text(path);
}
void put(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Database {
  public:
    explicit Database(const std::string& path)
        : connection_(std::move(*Connection::open(path, Connection::Open::create))) {
        run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    }
    void run(const std::string& sql) {
        const auto done = connection_.run(sql);
        EXPECT_TRUE(done) << done.error();
    }
    std::int64_t ask(const char* sql) { return connection_.integer(sql).value_or(-1); }
    Connection& connection() { return connection_; }

  private:
    Connection connection_;
};

// A database whose commits are numbered. Each commit adds a row.
class Guarded {
  public:
    explicit Guarded(const std::string& path) : database_(path) {
        database_.connection().leave_checkpoints();
        database_.run("CREATE TABLE IF NOT EXISTS row(number INTEGER PRIMARY KEY, filling TEXT)");
        auto guard = Guard::begin(database_.connection(), path);
        EXPECT_TRUE(guard) << guard.error();
        if (guard) guard_ = std::move(*guard);
    }
    void commit(int number, std::size_t bytes = 10, Guard::Durable durable = Guard::Durable::now) {
        ASSERT_TRUE(guard_->before_transaction(durable));
        database_.run("BEGIN IMMEDIATE; INSERT INTO row VALUES(" + std::to_string(number) + ", '" +
                      std::string(bytes, 'x') + "')");
        guard_->reached(100 + number);
        ASSERT_TRUE(guard_->commit());
    }
    void wait_for_checkpoint() { guard_->wait_for_checkpoint(); }
    void commit_nothing() {
        ASSERT_TRUE(guard_->before_transaction());
        database_.run("BEGIN IMMEDIATE");
        ASSERT_TRUE(guard_->commit());
    }

  private:
    Database database_;
    std::unique_ptr<Guard> guard_;
};

constexpr const char* kParts[] = {"", "-wal", "-mark"};

class LossTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "loss." + std::to_string(getpid());
        fs::remove_all(top_);
        fs::create_directories(top_ + "/crashed");
        fs::create_directories(top_ + "/aside");
        live_ = top_ + "/live.db";
        crashed_ = top_ + "/crashed/x.db";
    }
    void TearDown() override { fs::remove_all(top_); }

    // Copies the database's files in the state that kill -9 would leave at this moment.
    void crash() {
        fs::remove_all(top_ + "/crashed");
        fs::create_directories(top_ + "/crashed");
        for (const char* part : kParts)
            if (fs::exists(live_ + part)) fs::copy_file(live_ + part, crashed_ + part);
    }
    void commits(Guarded& guarded, int count) {
        for (int i = 0; i < count; ++i) guarded.commit(++last_);
    }
    // Crashes when a checkpoint has moved all commits into the database file, and damages the log.
    void crash_with_a_damaged_log_that_is_in_the_file() {
        {
            Guarded live(live_);
            commits(live, 2);
        }
        Guarded live(live_);
        commits(live, 1);
        while ((*read_mark(live_))->checkpointed != last_ && last_ < 100) {
            live.commit(++last_, 400'000);
            live.wait_for_checkpoint();
        }
        crash();
        ASSERT_EQ((*read_mark(crashed_))->checkpointed, last_);
        EXPECT_EQ(said(), "");
        std::string log = bytes_of(crashed_ + "-wal");
        log[log.size() / 2] ^= 1;
        put(crashed_ + "-wal", log);
        fs::remove(crashed_ + "-shm");
    }
    std::string said(const std::string& path) const {
        const auto loss = find_loss(path, "revision");
        if (!loss) return "error: " + loss.error();
        return *loss ? (*loss)->text : "";
    }
    std::string said() const {
        fs::remove(crashed_ + "-shm");
        return said(crashed_);
    }
    // Accepts the loss of the crashed copy. Returns the number of rows that are left from before the crash;
    // -1 if the loss can't be accepted.
    std::int64_t left() const {
        const auto loss = find_loss(crashed_, "revision");
        if (!loss || !*loss || !accept_loss(crashed_, **loss, top_ + "/aside")) return -1;
        EXPECT_EQ(said(), "");
        Guarded(crashed_).commit(1000);
        EXPECT_EQ(said(), "");
        return Database(crashed_).ask("SELECT count(*) FROM row WHERE number < 1000");
    }

    std::string top_;
    std::string live_;
    std::string crashed_;
    int last_ = 0;
};

TEST_F(LossTest, NoLossIsReportedAfterAKillOrAnOrderlyEnd) {
    {
        Guarded live(live_);
        crash();
        EXPECT_EQ(said(), "");
        for (int i = 0; i < 5; ++i) {
            commits(live, 1);
            crash();
            EXPECT_EQ(said(), "") << i;
        }
        live.commit_nothing();
        EXPECT_EQ(said(live_), "");
    }
    EXPECT_FALSE(fs::exists(live_ + "-wal"));
    EXPECT_EQ(said(live_), "");
    {
        Guarded again(live_);
        commits(again, 2);
    }
    EXPECT_EQ(said(live_), "");
    EXPECT_EQ(Database(live_).ask("SELECT number FROM last_commit"), 7) << "an empty one isn't counted";
}

TEST_F(LossTest, EachDamagedByteOfTheLogIsNoticed) {
    Guarded live(live_);
    commits(live, 4);
    crash();
    const std::string log = bytes_of(crashed_ + "-wal");
    const auto extent = extent_of_wal(crashed_);
    ASSERT_EQ(extent.whole, extent.size);
    ASSERT_EQ(extent.size, static_cast<std::int64_t>(log.size()));
    constexpr std::size_t kFrame = 24 + 4096;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 32; ++i) places.push_back(i);
    for (std::size_t begin = 32; begin < log.size(); begin += kFrame) {
        for (std::size_t i = 0; i < 24; ++i) places.push_back(begin + i);
        for (const std::size_t i : {std::size_t{0}, std::size_t{1500}, std::size_t{4095}})
            places.push_back(begin + 24 + i);
    }
    for (const std::size_t place : places) {
        std::string damaged = log;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
        put(crashed_ + "-wal", damaged);
        EXPECT_THAT(said(),
                    AllOf(HasSubstr("has lost"), HasSubstr("of its 4 commits"), HasSubstr("-wal is whole up"),
                          HasSubstr("commit 4, revision 104 was acknowledged by 20")))
            << place;
    }
}

TEST_F(LossTest, ALogThatIsCutShortOrGoneIsNoticed) {
    Guarded live(live_);
    commits(live, 3);
    crash();
    const std::string log = bytes_of(crashed_ + "-wal");
    for (std::size_t size = 0; size < log.size(); size += 1000) {
        put(crashed_ + "-wal", log.substr(0, size));
        EXPECT_THAT(said(), HasSubstr("has lost")) << size;
    }
    put(crashed_ + "-wal", log.substr(0, log.size() - 1));
    EXPECT_THAT(said(), HasSubstr("has lost the last 1 of its 3 commits: the database ends with commit 2, "
                                  "revision 102, commit 3, revision 103 was acknowledged"));
    fs::remove(crashed_ + "-wal");
    EXPECT_THAT(said(), HasSubstr("there is no write-ahead log"));
    EXPECT_EQ(said(live_), "");
}

// The machine crashes after a commit is written to the log, and before or while the mark file is updated.
TEST_F(LossTest, ACommitThatWasNotAcknowledgedIsNoLossHoweverTorn) {
    Guarded live(live_);
    commits(live, 3);
    const std::string mark = bytes_of(live_ + "-mark");
    const auto before = static_cast<std::size_t>(fs::file_size(live_ + "-wal"));
    commits(live, 1);
    crash();
    const std::string log = bytes_of(crashed_ + "-wal");
    const std::string next_mark = bytes_of(crashed_ + "-mark");
    ASSERT_GT(log.size(), before);
    put(crashed_ + "-mark", mark);
    for (std::size_t size = before; size <= log.size(); size += 499) {
        put(crashed_ + "-wal", log.substr(0, size));
        EXPECT_EQ(said(), "") << size;
        put(crashed_ + "-wal", log.substr(0, size) + std::string(log.size() - size, '\xff'));
        EXPECT_EQ(said(), "") << size;
    }
    put(crashed_ + "-wal", log);
    for (std::size_t size = 0; size <= mark.size(); size += size < 100 || size > 4090 ? 7 : 307) {
        put(crashed_ + "-mark", next_mark.substr(0, size) + mark.substr(size));
        EXPECT_EQ(said(), "") << size;
    }
}

// A commit with Durable::later survives the end of the process. A crash of the machine may take any part of
// it until a later commit is durable; find_loss() reports no loss then.
TEST_F(LossTest, ACommitThatNeedNotLastIsNoLossUntilALaterOne) {
    Guarded live(live_);
    commits(live, 3);
    const auto before = static_cast<std::size_t>(fs::file_size(live_ + "-wal"));
    for (int i = 0; i < 2; ++i) live.commit(++last_, 10, Guard::Durable::later);
    EXPECT_EQ((*read_mark(live_))->number, 3);
    crash();
    EXPECT_EQ(said(), "");
    EXPECT_EQ(Database(crashed_).ask("SELECT count(*) FROM row"), 5);
    crash();
    const std::string log = bytes_of(crashed_ + "-wal");
    for (std::size_t size = before; size <= log.size(); size += 499) {
        put(crashed_ + "-wal", log.substr(0, size));
        EXPECT_EQ(said(), "") << size;
    }
    commits(live, 1);
    EXPECT_EQ((*read_mark(live_))->number, 6);
    crash();
    EXPECT_EQ(said(), "");
    fs::resize_file(crashed_ + "-wal", log.size());
    EXPECT_THAT(said(), HasSubstr("has lost the last 1 of its 6 commits"));
}

// A checkpoint makes a commit with Durable::later durable. From then on the mark file counts the commit.
TEST_F(LossTest, ACommitThatNeedNotLastIsMarkedByACheckpoint) {
    {
        Guarded live(live_);
        commits(live, 1);
        live.commit(++last_, 10, Guard::Durable::later);
    }
    EXPECT_EQ((*read_mark(live_))->number, 2);
    EXPECT_EQ((*read_mark(live_))->checkpointed, 2);
    crash();
    EXPECT_EQ(said(), "");
}

TEST_F(LossTest, AMarkThatIsGoneOrDamagedIsSaid) {
    Guarded live(live_);
    commits(live, 3);
    crash();
    fs::remove(crashed_ + "-mark");
    EXPECT_THAT(said(), AllOf(HasSubstr("may have lost something"), HasSubstr("x.db-mark is gone"),
                              HasSubstr("ends with commit 3, revision 103")));
    put(crashed_ + "-mark", "nonsense");
    EXPECT_THAT(said(), HasSubstr("x.db-mark is damaged"));
    EXPECT_EQ(left(), 3);
    EXPECT_EQ(bytes_of(top_ + "/aside/x.db-mark"), "nonsense");
}

TEST_F(LossTest, ADatabaseOfAnOlderProgramHasNoMarkAndThatIsAllRight) {
    {
        Database old(crashed_);
        old.run("CREATE TABLE row(number INTEGER PRIMARY KEY, filling TEXT); INSERT INTO row VALUES(1, '')");
        EXPECT_EQ(said(crashed_), "");
    }
    {
        Guarded now(crashed_);
        now.commit(2);
    }
    EXPECT_EQ(said(), "");
}

TEST_F(LossTest, AnotherFileInTheDatabasesPlaceIsNoticed) {
    {
        Guarded live(live_);
        commits(live, 3);
    }
    const std::string old = bytes_of(live_);
    {
        Guarded live(live_);
        commits(live, 2);
    }
    crash();
    put(crashed_, old);
    EXPECT_THAT(said(), HasSubstr("has lost the last 2 of its 5 commits"));
    fs::remove(crashed_);
    EXPECT_THAT(said(), HasSubstr("has lost all of its 5 commits"));
    Database(crashed_).run("CREATE TABLE other(x)");
    EXPECT_THAT(said(), HasSubstr("has lost all of its 5 commits"));
    {
        Database copy(live_);
        EXPECT_TRUE(forget_numbers(copy.connection()));
    }
    fs::remove(live_ + "-mark");
    EXPECT_EQ(said(live_), "") << "a backup brings no number along";
}

TEST_F(LossTest, GoingOnKeepsWhatIsWholeAndACopyOfTheRest) {
    Guarded live(live_);
    commits(live, 4);
    crash();
    std::string log = bytes_of(crashed_ + "-wal");
    log[log.size() - 1] ^= 1;
    put(crashed_ + "-wal", log);
    fs::remove(crashed_ + "-shm");
    EXPECT_EQ(left(), 3);
    EXPECT_EQ(bytes_of(top_ + "/aside/x.db-wal"), log);
}

// The database file already has everything in the log, and then the log is damaged. With the rest of the log,
// SQLite would go back to older pages. So accept_loss() leaves the log out.
TEST_F(LossTest, ALogThatIsNotNeededIsLeftOut) {
    crash_with_a_damaged_log_that_is_in_the_file();
    EXPECT_THAT(said(), HasSubstr("would go back to an earlier state, though the database file has all"));
    EXPECT_EQ(left(), last_);
}

TEST_F(LossTest, AnErrorSaysWhereTheCopyOfARemovedLogIs) {
    crash_with_a_damaged_log_that_is_in_the_file();
    const std::string log = bytes_of(crashed_ + "-wal");
    const auto loss = find_loss(crashed_, "revision");
    ASSERT_TRUE(loss && *loss && (*loss)->without_log);
    // the header stays whole, the pages behind the first one don't
    std::string file = bytes_of(crashed_);
    file.replace(4096, file.size() - 4096, file.size() - 4096, 'x');
    put(crashed_, file);
    const auto accepted = accept_loss(crashed_, **loss, top_ + "/aside");
    ASSERT_FALSE(accepted);
    EXPECT_THAT(accepted.error(),
                HasSubstr("its write-ahead log was removed, and a copy is in " + top_ + "/aside"));
    EXPECT_FALSE(fs::exists(crashed_ + "-wal"));
    EXPECT_EQ(bytes_of(top_ + "/aside/x.db-wal"), log);
    EXPECT_TRUE(fs::exists(crashed_ + "-mark"));
}

TEST_F(LossTest, AfterACheckpointThatWasCutShortTheLogIsNeeded) {
    Guarded live(live_);
    commits(live, 3);
    {
        Database reader(live_);
        reader.run("BEGIN");
        reader.ask("SELECT count(*) FROM row");
        for (int i = 0; i < 12; ++i) live.commit(++last_, 400'000);
        live.wait_for_checkpoint();
        crash();
        ASSERT_TRUE((*read_mark(crashed_))->unfinished);
        EXPECT_EQ(said(), "");
    }
    // the checkpoint moves the whole log into the database file, but the crash comes before this is in the
    // mark file
    Database(live_).run("PRAGMA wal_checkpoint(PASSIVE)");
    crash();
    EXPECT_EQ(said(), "");
    fs::remove(crashed_ + "-wal");
    EXPECT_THAT(said(), HasSubstr("a checkpoint was cut short, so that what is left may be a mixture"));
    EXPECT_EQ(left(), last_);
}

// While a reader is open, the log can't start again from its beginning, so it becomes long. A thread then
// copies the log into the database file while commits go on.
TEST_F(LossTest, ALongLogIsCopiedBesideTheCommits) {
    {
        Guarded live(live_);
        commits(live, 3);
        {
            Database reader(live_);
            reader.run("BEGIN");
            reader.ask("SELECT count(*) FROM row");
            for (int i = 0; i < 30; ++i) live.commit(++last_, 400'000);
            EXPECT_LT((*read_mark(live_))->checkpointed, 4);
        }
        for (int tries = 0; tries < 2000 && (*read_mark(live_))->checkpointed < 33; ++tries) {
            commits(live, 1);
            crash();
            EXPECT_EQ(said(), "") << "whenever it is killed";
        }
        EXPECT_GE((*read_mark(live_))->checkpointed, 33);
    }
    crash();
    EXPECT_EQ(said(), "");
    EXPECT_EQ((*read_mark(crashed_))->number, last_);
    EXPECT_EQ(Database(crashed_).ask("SELECT count(*) FROM row"), last_);
}

// Only one connection at a time copies the log into the database file, as the mark file has room for one
// unfinished copy.
TEST_F(LossTest, OneConnectionCopiesTheLogAtATime) {
    Guarded live(live_);
    commits(live, 1);
    auto mark = MarkFile::open(live_);
    ASSERT_TRUE(mark);
    ASSERT_TRUE(mark->take_turn());
    EXPECT_FALSE(MarkFile::open(live_)->take_turn());
    for (int i = 0; i < 15; ++i) live.commit(++last_, 400'000);
    live.wait_for_checkpoint();
    EXPECT_FALSE((*read_mark(live_))->unfinished);
    EXPECT_EQ((*read_mark(live_))->checkpointed, 0);
    mark->end_turn();
    live.commit(++last_, 500'000);
    live.wait_for_checkpoint();
    EXPECT_EQ((*read_mark(live_))->checkpointed, last_);
}

TEST_F(LossTest, OtherProgramsMayOpenAndCloseTheDatabase) {
    {
        Guarded live(live_);
        commits(live, 3);
        Database(live_).run("INSERT INTO row VALUES(500, 'by hand')");
        commits(live, 1);
        crash();
    }
    EXPECT_EQ(said(live_), "");
    // SQLite moves the log that the crash left into the database file when the last connection is closed
    {
        Database by_hand(crashed_);
        by_hand.ask("SELECT count(*) FROM row");
    }
    EXPECT_FALSE(fs::exists(crashed_ + "-wal"));
    EXPECT_EQ(said(), "");
}

TEST_F(LossTest, TwoConnectionsKeepOneMark) {
    Guarded one(live_);
    Guarded other(live_);
    for (int i = 0; i < 4; ++i) {
        one.commit(++last_);
        other.commit(++last_);
    }
    one.commit(++last_);
    crash();
    EXPECT_EQ((*read_mark(crashed_))->number, 9);
    EXPECT_EQ(said(), "");
}

TEST(Printable, IsAsciiAndBounded) {
    EXPECT_EQ(printable("malformed database schema (\x1b[31m\xff\n)"),
              "malformed database schema (\\x1b[31m\\xff\\x0a)");
    EXPECT_EQ(printable(std::string(1000, 'a')), std::string(200, 'a') + "...");
}

}  // namespace
}  // namespace pbs::sqlite
