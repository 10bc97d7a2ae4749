#include "objects/upgrade.h"

#include <gmock/gmock.h>

#include "objects/usage_store.h"
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

// A file as each earlier version wrote it, with an object in it.
TEST_F(UpgradeTest, OldFilesAreBroughtUpToDateWithWhatTheyHold) {
    for (int version = 1; version < current_version(); ++version) {
        start_over();
        {
            auto database = Database::open(path_);
            ASSERT_TRUE(database);
            ASSERT_TRUE(upgrade(**database, version));
            ASSERT_TRUE((*database)->run(
                "INSERT INTO object VALUES (1, 'policy', 'default_policy'), (2, 'policy', 'old');"
                "INSERT INTO attribute VALUES (2, 'comment', 0, 'from before');"
                "INSERT INTO history (revision, at, user, host, command, type, name, before, after)"
                " VALUES (7, 0, 'u', 'h', 'c', 'policy', 'old', 'null', '{}')"));
        }
        open();
        EXPECT_FALSE(store_->created());
        EXPECT_EQ(store_->snapshot()->policy("old")->text("comment"), "from before");
        EXPECT_EQ(store_->snapshot()->revision(), 7U);
        UsageStore usage(*store_);
        EXPECT_TRUE(usage.write("past_usage", {{{"joe", "staff", 1.5}}, {}, {}, {}, false}));
        EXPECT_EQ(run("c p new").revision, 8U);
    }
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

// A crash while the file was being made: the next start makes what is missing.
TEST_F(UpgradeTest, HalfMadeFilesAreFinished) {
    start_over();
    {
        auto database = Database::open(path_);
        ASSERT_TRUE(upgrade(**database, current_version()));
    }
    open();
    EXPECT_TRUE(store_->created());
    EXPECT_NE(store_->snapshot()->policy("default_policy"), nullptr);
}

}  // namespace
}  // namespace pbs::objects
