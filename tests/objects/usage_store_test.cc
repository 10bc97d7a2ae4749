#include "objects/usage_store.h"

#include <gmock/gmock.h>

#include "objects/database.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::ElementsAre;

class UsageStoreTest : public StoreTest {
  protected:
    UsageState load(std::string_view scope = "past_usage") {
        const Result<UsageState> state = UsageStore(*store_).load(scope);
        EXPECT_TRUE(state) << state.error().message;
        return *state;
    }
    void write(const UsageBatch& batch, std::string_view scope = "past_usage") {
        const Result<void> written = UsageStore(*store_).write({{std::string(scope), batch}});
        ASSERT_TRUE(written) << written.error().message;
    }
};

TEST_F(UsageStoreTest, StartsEmpty) {
    const UsageState state = load();
    EXPECT_TRUE(state.usage.empty());
    EXPECT_TRUE(state.charges.empty());
    EXPECT_FALSE(state.last_decay);
}

TEST_F(UsageStoreTest, KeepsABatchAcrossReopening) {
    write({{{"joe", "g1", 2.5}, {"ann", "g2", 0.125}}, {{"1.svr", "joe", "g1", 2.5}}, {}, kNow, false});
    open();
    const UsageState state = load();
    EXPECT_THAT(state.usage, ElementsAre(Usage{"ann", "g2", 0.125}, Usage{"joe", "g1", 2.5}));
    EXPECT_THAT(state.charges, ElementsAre(Charge{"1.svr", "joe", "g1", 2.5}));
    EXPECT_EQ(state.last_decay, kNow);
}

TEST_F(UsageStoreTest, AmountsReplaceAndZeroRemoves) {
    write({{{"joe", "g1", 2.5}, {"ann", "g2", 1}}, {}, {}, {}, false});
    write({{{"joe", "g1", 3.5}, {"ann", "g2", 0}}, {}, {}, {}, false});
    EXPECT_THAT(load().usage, ElementsAre(Usage{"joe", "g1", 3.5}));
    write({{{"bob", "g1", 1}}, {}, {}, {}, true});
    EXPECT_THAT(load().usage, ElementsAre(Usage{"bob", "g1", 1}));
}

TEST_F(UsageStoreTest, ADecayIsOfAllOfItsScopeBeforeNewAmounts) {
    write({.usage = {{"joe", "", 8}, {"ann", "", 3}, {"bob", "", 5}}});
    write({.usage = {{"joe", "", 8}}}, "fs_group:f2");
    write({.usage = {{"bob", "", 9}}, .last_decay = kNow, .decayed_by = 0.25, .least = 1});
    EXPECT_THAT(load().usage, ElementsAre(Usage{"bob", "", 9}, Usage{"joe", "", 2}));
    EXPECT_EQ(load().last_decay, kNow);
    EXPECT_THAT(load("fs_group:f2").usage, ElementsAre(Usage{"joe", "", 8}));
    write({.decayed_by = 0.5, .decay_adds = 0.5, .least = 1.5});
    EXPECT_THAT(load().usage, ElementsAre(Usage{"bob", "", 5})) << "joe's 1.5 is removed";
}

TEST_F(UsageStoreTest, JobIsChargedOnceAndReleased) {
    write({{}, {{"1.svr", "joe", "g1", 2}}, {}, {}, false});
    write({{}, {{"1.svr", "joe", "g1", 9}, {"2.svr", "ann", "g1", 1}}, {}, {}, false});
    EXPECT_EQ(load().charges.front().amount, 2);
    write({{}, {}, {"1.svr", "unknown"}, {}, false});
    EXPECT_THAT(load().charges, ElementsAre(Charge{"2.svr", "ann", "g1", 1}));
}

TEST_F(UsageStoreTest, ScopesAreApart) {
    write({{{"joe", "g1", 2.5}}, {}, {}, kNow, false});
    write({{{"joe", "", 7}}, {}, {}, {}, true}, "fs_group:f1");
    EXPECT_EQ(load().usage.front().amount, 2.5);
    EXPECT_EQ(load("fs_group:f1").usage.front().amount, 7);
    EXPECT_FALSE(load("fs_group:f1").last_decay);
}

// After an error in one scope, the others have what they had, and a decay isn't applied twice.
TEST_F(UsageStoreTest, ScopesAreWrittenTogetherOrNot) {
    const std::string in_all = "fs_group:f1: long usage";
    write({.usage = {{"ann", "", 6}, {"joe", "", 8}}}, "fs_group:f1");
    const UsageBatches batches{
        {"fs_group:f1", {.usage = {{"joe", "", 9}}, .last_decay = kNow, .decayed_by = 0.5, .least = 1}},
        {in_all, {.usage = {{"joe", "", 5}}, .last_decay = kNow}}};
    ASSERT_TRUE(
        store_->database().run("CREATE TEMP TRIGGER refuse BEFORE INSERT ON usage WHEN NEW.scope = '" +
                               in_all + "' BEGIN SELECT RAISE(ABORT, 'no'); END"));
    EXPECT_FALSE(UsageStore(*store_).write(batches));
    EXPECT_THAT(load("fs_group:f1").usage, ElementsAre(Usage{"ann", "", 6}, Usage{"joe", "", 8}));
    EXPECT_FALSE(load("fs_group:f1").last_decay);
    EXPECT_TRUE(load(in_all).usage.empty());

    ASSERT_TRUE(store_->database().run("DROP TRIGGER refuse"));
    EXPECT_TRUE(UsageStore(*store_).write(batches));
    EXPECT_THAT(load("fs_group:f1").usage, ElementsAre(Usage{"ann", "", 3}, Usage{"joe", "", 9}));
    EXPECT_THAT(load(in_all).usage, ElementsAre(Usage{"joe", "", 5}));
    EXPECT_EQ(load(in_all).last_decay, kNow);
}

}  // namespace
}  // namespace pbs::objects
