#include "objects/upgrade.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class UpgradeTest : public StoreTest {
  protected:
    void start_over() {
        store_.reset();
        for (const char* suffix : {"", "-wal", "-shm", "-mark"}) std::filesystem::remove(path_ + suffix);
    }
};

// A later release adds a step to the schema. The step changes the file, whose objects stay.
TEST_F(UpgradeTest, OldFilesAreBroughtUpToDateWithWhatTheyHold) {
    run("c p old");
    store_.reset();
    std::vector<const char*> steps(schema().begin(), schema().end());
    steps.push_back(
        "ALTER TABLE object ADD COLUMN note TEXT NOT NULL DEFAULT 'none'; UPDATE object SET note = name;");
    auto database = Database::open(path_);
    ASSERT_TRUE(database);
    const auto first = [&](const char* sql) {
        Statement statement = (*database)->statement(sql);
        EXPECT_TRUE(statement.step().value_or(false)) << sql;
        return std::string(statement.text(0));
    };
    steps.push_back("CREATE TABLE object (id INTEGER);");
    EXPECT_FALSE(upgrade(**database, steps)) << "the table is there";
    EXPECT_EQ(first("PRAGMA user_version"), std::to_string(schema().size())) << "all steps or none";
    steps.pop_back();
    ASSERT_TRUE(upgrade(**database, steps));
    EXPECT_EQ(first("PRAGMA user_version"), std::to_string(steps.size()));
    EXPECT_EQ(first("SELECT note FROM object WHERE name = 'old'"), "old");
    EXPECT_TRUE(upgrade(**database, steps)) << "there is nothing left to do";
    EXPECT_FALSE(upgrade(**database, schema())) << "an older program";
}

TEST_F(UpgradeTest, LaterVersionsAreRefused) {
    store_.reset();
    {
        auto database = Database::open(path_);
        ASSERT_TRUE((*database)->run("PRAGMA user_version = 99"));
    }
    const Result<Store> opened = Store::open(path_, {"UTC"}, kNow);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message,
                testing::AllOf(testing::HasSubstr("version 99"), testing::HasSubstr("newer program")));
}

// A crash after the tables were made and before the first objects were stored. The next start stores them.
TEST_F(UpgradeTest, HalfMadeFilesAreFinished) {
    start_over();
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(upgrade(**database, schema()));
    }
    open();
    EXPECT_NE(store_->snapshot()->policy("default_policy"), nullptr);
}

}  // namespace
}  // namespace pbs::objects
