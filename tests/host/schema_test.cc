// Tests upgrades of a database to the newest version. The test defines the steps.
#include "server_plugin/host/store/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pbs::host {
namespace {

using Open = sqlite::Connection::Open;

sqlite::Connection memory() {
    return std::move(*sqlite::Connection::open(":memory:", Open::create));
}

const std::vector<const char*> kTwoSteps{"CREATE TABLE job(id INTEGER PRIMARY KEY)",
                                         "ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 7"};

TEST(Schema, ANewDatabaseTakesAllSteps) {
    auto db = memory();
    ASSERT_TRUE(upgrade(db, "p", kTwoSteps));
    EXPECT_EQ(db.integer("PRAGMA user_version"), 2);
    EXPECT_TRUE(db.run("INSERT INTO job(id) VALUES(1)"));
    EXPECT_EQ(db.integer("SELECT priority FROM job"), 7);
}

TEST(Schema, AnOlderDatabaseTakesTheStepsThatItLacksAndKeepsItsRows) {
    auto db = memory();
    ASSERT_TRUE(upgrade(db, "p", SchemaSteps(kTwoSteps).first(1)));
    ASSERT_TRUE(db.run("INSERT INTO job(id) VALUES(1)"));
    ASSERT_TRUE(upgrade(db, "p", kTwoSteps));
    EXPECT_EQ(db.integer("PRAGMA user_version"), 2);
    EXPECT_EQ(db.integer("SELECT priority FROM job WHERE id=1"), 7);
    EXPECT_TRUE(upgrade(db, "p", kTwoSteps)) << "nothing is left to do";
}

TEST(Schema, AStepThatFailsLeavesTheDatabaseAsItWas) {
    auto db = memory();
    const std::vector<const char*> wrong{kTwoSteps[0], "CREATE TABLE other(id); CREATE TABLE job(id)"};
    const auto done = upgrade(db, "p", wrong);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, testing::StartsWith("p: can not be upgraded: "));
    EXPECT_EQ(db.integer("PRAGMA user_version"), 1);
    EXPECT_EQ(db.integer("SELECT count(*) FROM sqlite_master WHERE name='other'"), 0);
}

TEST(Schema, ANewerDatabaseIsRefused) {
    auto db = memory();
    ASSERT_TRUE(upgrade(db, "p", kTwoSteps));
    const auto done = upgrade(db, "p", SchemaSteps(kTwoSteps).first(1));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "p: version 2 is newer than this server's 1");
}

TEST(Schema, TheServersOwnIsMade) {
    auto db = memory();
    ASSERT_TRUE(upgrade(db, "p", server_schema()));
    EXPECT_EQ(db.integer("SELECT count(*) FROM job"), 0);
}

}  // namespace
}  // namespace pbs::host
