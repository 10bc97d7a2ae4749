// Opens a database in two processes, as where locks don't keep the second one out: on some network file
// systems, on two machines. The process that has opened it last may write; the other one writes nothing more.
#include "sqlite/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "sqlite/connection.h"
#include "sqlite/loss.h"
#include "tests/file_text.h"

namespace {
int syncs_to_fail = 0;
bool writes_fail = false;
int failed_writes = 0;

int failed() {
    errno = EIO;
    return -1;
}
}  // namespace

// The calls by which SQLite writes its log.
#pragma GCC visibility push(default)
extern "C" {
int fdatasync(int fd) {
    if (syncs_to_fail == 0) return fsync(fd);
    --syncs_to_fail;
    return failed();
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
    if (!writes_fail) return syscall(SYS_pwrite64, fd, bytes, size, at);
    ++failed_writes;
    return failed();
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
    return pwrite64(fd, bytes, size, at);
}
}
#pragma GCC visibility pop

namespace pbs::sqlite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class GuardTest : public testing::Test {
  protected:
    GuardTest() : folder_(testing::TempDir() + "guard." + std::to_string(getpid())) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~GuardTest() override { std::filesystem::remove_all(folder_); }

    struct Opened {
        std::unique_ptr<Connection> connection;
        std::unique_ptr<Guard> guard;
    };
    Opened open() const {
        Opened opened;
        opened.connection = std::make_unique<Connection>(*Connection::open(path(), Connection::Open::create));
        EXPECT_TRUE(
            opened.connection->run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                                   "CREATE TABLE IF NOT EXISTS row(number INTEGER PRIMARY KEY)"));
        opened.connection->leave_checkpoints();
        auto guard = Guard::begin(*opened.connection, path());
        EXPECT_TRUE(guard) << guard.error();
        if (guard) opened.guard = std::move(*guard);
        return opened;
    }
    // Adds a row. Returns why it couldn't.
    static std::string add(Opened& opened, int number) {
        if (const auto ready = opened.guard->before_transaction(); !ready) return ready.error();
        const auto done =
            opened.connection->run("BEGIN IMMEDIATE; INSERT INTO row VALUES(" + std::to_string(number) + ")");
        return done && opened.guard->commit() ? "" : "not written";
    }
    static std::int64_t rows(const Opened& opened) {
        return opened.connection->integer("SELECT count(*) FROM row").value_or(-1);
    }
    // Runs `work` in another process. Returns the process, which has ended.
    static pid_t in_another_process(const std::function<bool()>& work) {
        const pid_t child = fork();
        if (child == 0) _exit(work() ? 0 : 1);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        return child;
    }
    std::string path() const { return folder_ + "/x.db"; }

  private:
    std::string folder_;
};

TEST_F(GuardTest, TheProcessThatHasOpenedTheDatabaseLastIsTheOnlyOneThatWrites) {
    Opened first = open();
    EXPECT_EQ(add(first, 1), "");
    const pid_t other = in_another_process([&] {
        Opened second = open();
        return add(second, 2).empty() && add(second, 3).empty();
    });
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < 2; ++i)
        EXPECT_THAT(add(first, 4), AllOf(HasSubstr(path()), HasSubstr("process " + std::to_string(other)),
                                         HasSubstr(host), HasSubstr("nothing is written here any more")));
    // Nor does it copy the log into the database file, or shorten the log.
    const std::string before = pbs::test::file_text(path());
    first.guard.reset();
    first.connection.reset();
    EXPECT_EQ(pbs::test::file_text(path()), before);
    Opened again = open();
    EXPECT_EQ(add(again, 4), "");
    EXPECT_EQ(rows(again), 4);
    const auto loss = find_loss(path(), "row");
    ASSERT_TRUE(loss);
    EXPECT_FALSE(*loss) << (*loss)->text;
}

// The log holds a commit whose sync has failed, until another one is written in its place.
TEST_F(GuardTest, ARefusedCommitIsGoneAlsoIfTheDiskFailsForLonger) {
    for (const bool killed : {false, true}) {
        in_another_process([&] {
            Opened opened = open();
            if (!add(opened, killed ? 11 : 1).empty()) return false;
            syncs_to_fail = 1;
            if (add(opened, 2).empty()) return false;
            opened.connection->roll_back();
            writes_fail = true;
            opened.guard->rolled_back();
            writes_fail = false;
            if (failed_writes < 1) return false;
            if (killed) _exit(opened.guard->before_transaction() ? 0 : 1);
            return true;
        });
        Opened again = open();
        EXPECT_EQ(again.connection->integer("SELECT count(*) FROM row WHERE number = 2"), 0) << killed;
    }
}

TEST_F(GuardTest, ARefusedCommitIsGoneAlsoIfATransactionWithoutChangesFollows) {
    in_another_process([&] {
        Opened opened = open();
        if (!add(opened, 1).empty()) return false;
        syncs_to_fail = 1;
        if (add(opened, 2).empty()) return false;
        opened.connection->roll_back();
        writes_fail = true;
        opened.guard->rolled_back();
        if (!opened.guard->before_transaction() || failed_writes < 2) return false;
        if (!opened.connection->run("BEGIN IMMEDIATE") || !opened.guard->commit()) return false;
        writes_fail = false;
        _exit(opened.guard->before_transaction() ? 0 : 1);  // as if it were killed
    });
    Opened again = open();
    EXPECT_EQ(again.connection->integer("SELECT count(*) FROM row WHERE number = 2"), 0);
}

TEST_F(GuardTest, OneProcessMayOpenTheDatabaseSeveralTimes) {
    Opened first = open();
    Opened second = open();
    EXPECT_EQ(add(first, 1), "");
    EXPECT_EQ(add(second, 2), "");
    EXPECT_EQ(add(first, 3), "");
}

TEST_F(GuardTest, AMarkOfAnOlderVersionNamesNobody) {
    Opened first = open();
    std::filesystem::resize_file(path() + "-mark", 4096 + 512);
    EXPECT_EQ(add(first, 1), "");
}

}  // namespace
}  // namespace pbs::sqlite
