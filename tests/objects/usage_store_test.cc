#include "objects/usage_store.h"

#include <gmock/gmock.h>

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
        const Result<void> written = UsageStore(*store_).write(scope, batch);
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

}  // namespace
}  // namespace pbs::objects
