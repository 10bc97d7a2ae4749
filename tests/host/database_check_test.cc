#include "server_plugin/host/store/database_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server_plugin/host/store/store.h"
#include "sqlite/connection.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using testing::AllOf;
using testing::HasSubstr;

class DatabaseCheckTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "check." + std::to_string(::getpid());
        fs::remove_all(top_);
        home_.emplace(std::move(*Home::open(top_)));
        ASSERT_TRUE(Store::open(home_->server_db()));
        auto policy = Connection::open(home_->policy_db(), Connection::Open::create);
        ASSERT_TRUE(policy->run("CREATE TABLE history(revision INTEGER)"));
        std::ofstream(top_ + "/server_priv/server.port") << "15001\n";
    }
    void TearDown() override { fs::remove_all(top_); }
    std::string error() const {
        auto begun = begin_check(*home_);
        const auto checked = begun ? begun->get() : tl::unexpected(begun.error());
        return checked ? "" : checked.error().message;
    }
    std::string top_;
    std::optional<Home> home_;
};

TEST_F(DatabaseCheckTest, WholeOnesAndNoneAreAllRight) {
    EXPECT_EQ(error(), "");
    fs::remove(home_->server_db());
    fs::remove(home_->policy_db());
    EXPECT_EQ(error(), "") << "a new home, or one that is to begin anew";
}

TEST_F(DatabaseCheckTest, OneOfTheTwoIsAnErrorOnceAServerHasBeenReady) {
    fs::remove(home_->server_db());
    EXPECT_THAT(error(),
                AllOf(HasSubstr(home_->server_db() + " is gone, but " + home_->policy_db() + " has data"),
                      HasSubstr("pbs_server -d " + top_ + " --restore")));
    std::ofstream(home_->server_db()).flush();
    EXPECT_THAT(error(), HasSubstr(home_->server_db() + " is empty, but"));
    fs::remove(top_ + "/server_priv/server.port");
    EXPECT_EQ(error(), "") << "pbs_migrate has made the other";
}

// If the database has no -wal file yet, a killed server may leave a rollback journal.
TEST_F(DatabaseCheckTest, AnInterruptedChangeIsTakenBack) {
    const std::string scratch = top_ + "/scratch.db";
    {
        auto database = Connection::open(scratch, Connection::Open::create);
        ASSERT_TRUE(
            database->run("CREATE TABLE history(revision INTEGER); INSERT INTO history VALUES (1);"
                          "BEGIN; UPDATE history SET revision = 2;"));
        ASSERT_FALSE(database->flush());
        fs::copy_file(scratch, home_->policy_db(), fs::copy_options::overwrite_existing);
        fs::copy_file(scratch + "-journal", home_->policy_db() + "-journal");
    }
    ASSERT_GT(fs::file_size(home_->policy_db() + "-journal"), 0U);
    EXPECT_EQ(error(), "");
    auto database = Connection::open(home_->policy_db(), Connection::Open::read);
    EXPECT_EQ(database->integer("SELECT revision FROM history"), 1);
}

// The databases name programs that the server runs. So a user who can write them could run programs with the
// server's rights.
TEST_F(DatabaseCheckTest, ADatabaseThatOthersCouldChangeIsRefused) {
    for (const std::string& path : {home_->server_db(), home_->policy_db()}) {
        ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
        EXPECT_THAT(error(),
                    ::testing::StartsWith(
                        path + " may be written by others than its owner (mode 0666), expected 0600. "
                               "Nothing was changed. To go on with a backup: "));
        ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
        fs::rename(path, top_ + "/elsewhere");
        fs::create_symlink(top_ + "/elsewhere", path);
        EXPECT_THAT(error(), HasSubstr(path + " is a symbolic link"));
        fs::remove(path);
        fs::rename(top_ + "/elsewhere", path);
        EXPECT_EQ(error(), "");
    }
}

TEST_F(DatabaseCheckTest, ANewerServerDatabaseIsRefused) {
    auto server = Connection::open(home_->server_db(), Connection::Open::write);
    ASSERT_TRUE(server->run("PRAGMA user_version=99"));
    EXPECT_THAT(error(), HasSubstr("is of version 99, and this pbs_server knows versions up to"));
}

TEST_F(DatabaseCheckTest, WhatTheWriteAheadLogHoldsCounts) {
    auto server = Connection::open(home_->server_db(), Connection::Open::write);
    ASSERT_TRUE(server->run("INSERT INTO counter VALUES('a', 1)"));
    ASSERT_GT(fs::file_size(home_->server_db() + "-wal"), 0U);
    EXPECT_EQ(error(), "");
}

}  // namespace
}  // namespace pbs::host
