#include "server_plugin/host/store/backup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "server_plugin/host/store/store.h"
#include "sqlite/connection.h"
#include "tests/file_text.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using sqlite::Connection;
using testing::HasSubstr;

constexpr std::chrono::sys_seconds kNoon{std::chrono::seconds(1795435200)};  // 2026-11-23 12:00 UTC

class BackupTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "backup." + std::to_string(::getpid()) + "." + std::to_string(++count_);
        fs::create_directories(top_);
        home_path_ = top_ + "/home";
        backup_ = top_ + "/copy";
        home_.emplace(std::move(*Home::open(home_path_)));
    }
    void TearDown() override { fs::remove_all(top_); }

    // Writes a number into both databases, so that a test can tell which contents they have.
    void write(int number) const {
        ASSERT_TRUE(Store::open(home_->server_db()));
        sql(home_->server_db(),
            "INSERT OR REPLACE INTO counter VALUES('mark', " + std::to_string(number) + ")");
        sql(home_->policy_db(),
            "PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS history(revision INTEGER);"
            "INSERT INTO history VALUES(" +
                std::to_string(number) + ")");
    }
    static void sql(const std::string& path, const std::string& text) {
        auto connection = Connection::open(path, Connection::Open::create);
        ASSERT_TRUE(connection) << connection.error();
        const auto done = connection->run(text);
        ASSERT_TRUE(done) << done.error();
    }
    static int64_t ask(const std::string& path, const char* query) {
        auto connection = Connection::open(path, Connection::Open::read);
        if (!connection) return -1;
        return connection->integer(query).value_or(-2);
    }
    static int64_t server_mark(const std::string& directory) {
        return ask(directory + "/server.db", "SELECT value FROM counter WHERE name='mark'");
    }
    static int64_t policy_mark(const std::string& directory) {
        return ask(directory + "/policy.db", "SELECT max(revision) FROM history");
    }
    std::string priv() const { return home_->server_priv(); }
    static std::string text(const std::string& path) { return pbs::test::file_text(path); }
    static void put(const std::string& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    Result<Manifest> back_up_now() const { return back_up(home_path_, backup_, kNoon); }
    std::string restore_error() const {
        const auto done = restore(*home_, backup_, kNoon);
        return done ? "" : done.error().message;
    }

    std::string top_;
    std::string home_path_;
    std::string backup_;
    std::optional<Home> home_;

  private:
    static inline int count_ = 0;
};

TEST_F(BackupTest, IsWholePrivateAndDescribed) {
    write(1);
    write(7);
    const mode_t before = ::umask(0);
    const auto manifest = back_up_now();
    ::umask(before);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->revision, 7);
    EXPECT_EQ(manifest->home, home_path_);
    EXPECT_EQ(manifest->date, "2026-11-23T12:00:00Z");
    EXPECT_EQ(fs::status(backup_).permissions(), fs::perms(0700));
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(backup_)) {
        names.insert(file.path().filename());
        EXPECT_EQ(file.status().permissions(), fs::perms(0600)) << file.path();
    }
    EXPECT_EQ(names, (std::set<std::string>{"MANIFEST", "policy.db", "server.db"}));
    const auto read = Manifest::parse(text(backup_ + "/MANIFEST"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, *manifest);
    EXPECT_EQ(read->find("server.db")->version, Store::newest_version());
    EXPECT_EQ(server_mark(backup_), 7);
    EXPECT_EQ(policy_mark(backup_), 7);
}

TEST_F(BackupTest, TakesNoPlaceThatIsTaken) {
    write(1);
    fs::create_directories(backup_ + "/something");
    const auto refused = back_up_now();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(backup_ + ": is in the way: the directory is not empty"));
    fs::remove_all(backup_);
    put(backup_, "x");
    EXPECT_FALSE(back_up_now());
    EXPECT_EQ(text(backup_), "x");
    fs::remove_all(backup_);
    fs::create_directories(backup_);
    EXPECT_TRUE(back_up_now()) << "an empty directory is not in the way";
}

TEST_F(BackupTest, LeavesNothingBehindWhenItFails) {
    write(1);
    fs::remove(home_->policy_db());
    const auto missing = back_up_now();
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("policy.db"));
    EXPECT_FALSE(fs::exists(home_->policy_db())) << "it isn't made either";
    put(home_->policy_db(), "this is no database, and long enough to be looked at as if it were one");
    EXPECT_FALSE(back_up_now());
    EXPECT_EQ(std::distance(fs::directory_iterator(top_), fs::directory_iterator()), 1) << "the home alone";
}

TEST_F(BackupTest, WhatAnotherLeftBehindIsNotInTheWay) {
    write(1);
    const std::string left = backup_ + ".partial-" + std::to_string(::getpid());
    fs::create_directories(left + "/something");
    EXPECT_TRUE(back_up_now());
    EXPECT_TRUE(fs::exists(left + "/something"));
    EXPECT_EQ(fs::status(backup_).permissions(), fs::perms(0700));
}

// The writer thread changes server.db and then policy.db, and commits policy.db first, like the server.
TEST_F(BackupTest, BothAreOfOneMoment) {
    write(0);
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        auto server = std::move(*Connection::open(home_->server_db(), Connection::Open::write));
        auto policy = std::move(*Connection::open(home_->policy_db(), Connection::Open::write));
        for (Connection* one : {&server, &policy}) ASSERT_TRUE(one->run("PRAGMA busy_timeout=20000"));
        for (int i = 1; !stop; ++i) {
            const std::string n = std::to_string(i);
            ASSERT_TRUE(server.run("BEGIN IMMEDIATE"));
            ASSERT_TRUE(server.run("UPDATE counter SET value=" + n + " WHERE name='mark'"));
            ASSERT_TRUE(policy.run("INSERT INTO history VALUES(" + n + ")"));
            ASSERT_TRUE(server.run("COMMIT"));
        }
    });
    for (int i = 0; i < 10; ++i) {
        backup_ = top_ + "/copy" + std::to_string(i);
        const auto done = back_up_now();
        EXPECT_TRUE(done) << done.error().message;
        EXPECT_EQ(server_mark(backup_), policy_mark(backup_));
        EXPECT_EQ(done ? done->revision : -1, policy_mark(backup_));
    }
    stop = true;
    writer.join();
}

TEST_F(BackupTest, ComesBackAndKeepsWhatWasThere) {
    write(1);
    ASSERT_TRUE(back_up_now());
    write(2);
    const auto replaced = restore(*home_, backup_, kNoon);
    ASSERT_TRUE(replaced) << replaced.error().message;
    EXPECT_EQ(server_mark(priv()), 1);
    EXPECT_EQ(policy_mark(priv()), 1);
    EXPECT_EQ(*replaced, priv() + "/replaced-20261123-120000");
    EXPECT_EQ(server_mark(*replaced), 2);
    EXPECT_EQ(policy_mark(*replaced), 2);
    EXPECT_EQ(fs::status(*replaced).permissions(), fs::perms(0700));
    EXPECT_EQ(fs::status(home_->server_db()).permissions(), fs::perms(0600));
    EXPECT_FALSE(fs::exists(priv() + "/restore.new"));
    EXPECT_FALSE(fs::exists(priv() + "/restore.journal"));
    const auto again = restore(*home_, backup_, kNoon);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, priv() + "/replaced-20261123-120000-2");
}

TEST_F(BackupTest, ComesBackIntoAHomeThatHasNothing) {
    write(3);
    ASSERT_TRUE(back_up_now());
    home_.emplace(std::move(*Home::open(top_ + "/other")));
    const auto replaced = restore(*home_, backup_, kNoon);
    ASSERT_TRUE(replaced) << replaced.error().message;
    EXPECT_EQ(*replaced, "");
    EXPECT_EQ(server_mark(priv()), 3);
    EXPECT_EQ(policy_mark(priv()), 3);
}

TEST_F(BackupTest, ADamagedBackupChangesNothing) {
    write(1);
    struct Damage {
        const char* what;
        std::function<void(const std::string&)> make;
        const char* expected;
    };
    const auto flip = [](const std::string& path, std::size_t at) {
        std::string bytes = text(path);
        bytes.at(at) = static_cast<char>(bytes[at] ^ 1);
        put(path, bytes);
    };
    // Makes the manifest agree with the file, so that only the file's content is wrong.
    const auto vouch = [](const std::string& backup, const std::string& file, int64_t new_version = -1) {
        auto manifest = *Manifest::parse(text(backup + "/MANIFEST"));
        for (auto& one : manifest.databases)
            if (one.name == file) {
                const int64_t version = new_version < 0 ? one.version : new_version;
                one = *measure(backup, file);
                one.version = version;
            }
        put(backup + "/MANIFEST", manifest.text());
    };
    const std::vector<Damage> damages = {
        {"no backup", [](const std::string& copy) { fs::remove_all(copy); }, "MANIFEST"},
        {"no manifest", [](const std::string& copy) { fs::remove(copy + "/MANIFEST"); }, "MANIFEST"},
        {"another manifest", [](const std::string& copy) { put(copy + "/MANIFEST", "hello\n"); },
         "line 1: expected \"pbspolicy-backup 1\""},
        {"half a manifest",
         [](const std::string& copy) {
             const std::string whole = text(copy + "/MANIFEST");
             put(copy + "/MANIFEST", whole.substr(0, whole.rfind("database")));
         },
         "policy.db is not in it"},
        {"a missing file", [](const std::string& copy) { fs::remove(copy + "/server.db"); }, "server.db"},
        {"a flipped bit", [&](const std::string& copy) { flip(copy + "/policy.db", 5000); },
         "policy.db: is damaged: its size or its sum"},
        {"a cut file", [](const std::string& copy) { fs::resize_file(copy + "/server.db", 4096); },
         "server.db: is damaged: its size or its sum"},
        {"damage that is vouched for",
         [&](const std::string& copy) {
             fs::resize_file(copy + "/server.db", 4096);
             vouch(copy, "server.db");
         },
         "server.db is damaged"},
        {"a newer version",
         [&](const std::string& copy) {
             sql(copy + "/server.db", "PRAGMA user_version=99");
             vouch(copy, "server.db");
         },
         "is of version 99, and this pbs_server knows versions up to"},
        {"another version than the manifest's",
         [&](const std::string& copy) {
             sql(copy + "/policy.db", "PRAGMA user_version=99");
             vouch(copy, "policy.db");
         },
         "its version is not that of the MANIFEST"},
        {"a newer version of policy.db than the one there",
         [&](const std::string& copy) {
             sql(copy + "/policy.db", "PRAGMA user_version=99");
             vouch(copy, "policy.db", 99);
         },
         "policy.db: is of version 99: "},
    };
    for (const Damage& damage : damages) {
        fs::remove_all(backup_);
        ASSERT_TRUE(back_up_now());
        damage.make(backup_);
        EXPECT_THAT(restore_error(), HasSubstr(damage.expected)) << damage.what;
        EXPECT_EQ(server_mark(priv()), 1) << damage.what;
        EXPECT_EQ(policy_mark(priv()), 1) << damage.what;
        EXPECT_FALSE(fs::exists(priv() + "/restore.new")) << damage.what;
        EXPECT_FALSE(fs::exists(priv() + "/restore.journal")) << damage.what;
    }
}

// Kills a restore after each of its steps in turn. Before the restore is decided, that leaves the old
// databases; afterwards the next start completes it.
TEST_F(BackupTest, KilledAtAnyStepItLeavesTheOldOrTheNew) {
    write(1);
    ASSERT_TRUE(back_up_now());
    bool ended = false;
    bool decided_before = false;
    for (int stop_at = 1; !ended; ++stop_at) {
        ASSERT_LT(stop_at, 50);
        write(stop_at + 100);
        const pid_t child = ::fork();
        if (child == 0) {
            int step = 0;
            const auto done = restore(*home_, backup_, kNoon, [&](const std::string&) {
                if (++step == stop_at) ::_exit(9);
            });
            ::_exit(done ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ended = WEXITSTATUS(status) == 0;
        ASSERT_NE(WEXITSTATUS(status), 1) << "step " << stop_at;
        const auto finished = finish_restore(*home_);
        ASSERT_TRUE(finished) << finished.error().message;
        const bool is_new = ended || *finished || decided_before;
        EXPECT_EQ(server_mark(priv()), is_new ? 1 : stop_at + 100) << "step " << stop_at;
        EXPECT_EQ(policy_mark(priv()), is_new ? 1 : stop_at + 100) << "step " << stop_at;
        EXPECT_FALSE(fs::exists(priv() + "/restore.new"));
        EXPECT_FALSE(fs::exists(priv() + "/restore.journal"));
        decided_before = decided_before || *finished;
        const auto nothing = finish_restore(*home_);
        EXPECT_TRUE(nothing && !*nothing);
    }
    EXPECT_TRUE(decided_before) << "some step came after the decision";
}

TEST_F(BackupTest, ABackupOfAHalfRestoredHomeIsRefused) {
    write(1);
    put(priv() + "/restore.journal", "replaced-x\n");
    const auto refused = back_up_now();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("a restore was cut short"));
}

TEST_F(BackupTest, ANewerPolicyDbComesWhereThereIsNoneToCompareWith) {
    write(1);
    sql(home_->policy_db(), "PRAGMA user_version=99");
    ASSERT_TRUE(back_up_now());
    home_.emplace(std::move(*Home::open(top_ + "/other")));
    EXPECT_EQ(restore_error(), "");
    EXPECT_EQ(policy_mark(priv()), 1);
}

TEST_F(BackupTest, WhatWasPutAsideIsNotWrittenOver) {
    write(1);
    ASSERT_TRUE(back_up_now());
    fs::create_directories(priv() + "/restore.new");
    fs::create_directories(priv() + "/replaced-x");
    for (const char* name : {"server.db", "policy.db"})
        fs::copy_file(backup_ + "/" + name, priv() + "/restore.new/" + name);
    put(priv() + "/replaced-x/server.db", "the old one");
    put(priv() + "/restore.journal", "replaced-x\n");
    const auto refused = finish_restore(*home_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                HasSubstr("can not be moved to " + priv() + "/replaced-x/server.db"));
    EXPECT_EQ(text(priv() + "/replaced-x/server.db"), "the old one");
    EXPECT_EQ(server_mark(priv()), 1);
}

// If the server can't look for the journal, it has to assume that a restore was decided.
TEST_F(BackupTest, WhatCannotBeLookedForIsNoSignThatItIsNotThere) {
    const std::string moved = top_ + "/moved";
    fs::create_directories(priv() + "/restore.new");
    fs::rename(priv(), moved);
    put(priv(), "a file in the place of the folder");
    const auto refused = finish_restore(*home_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("restore.journal: can not be looked for: "));
    EXPECT_TRUE(fs::exists(moved + "/restore.new"));
}

TEST_F(BackupTest, AJournalThatNamesAPlaceElsewhereIsRefused) {
    write(1);
    put(priv() + "/restore.journal", "../../etc\n");
    const auto refused = finish_restore(*home_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("restore.journal: is damaged"));
}

TEST(ManifestLines, AreCheckedOneByOne) {
    const std::string good =
        "pbspolicy-backup 1\nprogram 1\ndate d\nhome /h\nrevision 3\nintegrity ok\n"
        "database server.db 2 10 ff\ndatabase policy.db 1 20 00ab\n";
    const auto manifest = Manifest::parse(good);
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->find("policy.db")->sum, 0xabU);
    for (const char* bad : {"revision x", "integrity bad", "database other.db 1 2 3",
                            "database server.db 2 10 ff", "colour blue", "database", "revision",
                            "database server.db 2 10", "database server.db 2 10 ff gg", ""})
        EXPECT_FALSE(Manifest::parse(good + bad + "\n")) << bad;
    EXPECT_FALSE(Manifest::parse("pbspolicy-backup 1\n" + good.substr(good.find("revision"))))
        << "no program";
}

}  // namespace
}  // namespace pbs::host
