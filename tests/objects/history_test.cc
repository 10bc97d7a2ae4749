#include "objects/history.h"

#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class HistoryTest : public StoreTest {};

TEST_F(HistoryTest, TellsWhoFromWhereWhenAndWhat) {
    run("c p p1 by_queue=False");
    ASSERT_TRUE(store_->execute(parse_command("s p p1 batch_queues=\"a,b\", comment=\"by night\""),
                                {"ann", "h2", root_privilege}, kNow + std::chrono::seconds(5)));
    run("d p p1");
    const auto history = store_->history({{ObjectType::policy}, "p1", {}, {}, 10});
    ASSERT_TRUE(history);
    ASSERT_EQ(history->size(), 3U);
    const HistoryEntry& set = (*history)[1];
    EXPECT_EQ(set.user, "ann");
    EXPECT_EQ(set.host, "h2");
    EXPECT_EQ(set.at, kNow + std::chrono::seconds(5));
    EXPECT_EQ(set.command, "set policy p1 batch_queues = \"a,b\", comment = \"by night\"");
    EXPECT_EQ(set.before, R"({"by_queue":"False"})");
    EXPECT_EQ(set.after, R"({"by_queue":"False","comment":"by night","batch_queues":["a","b"]})");
    EXPECT_EQ(history->front().before, "null");
    EXPECT_EQ(history->back().after, "null");
    EXPECT_EQ(history->back().command, "delete policy p1");
    EXPECT_EQ(history->back().revision, store_->snapshot()->revision());
}

TEST_F(HistoryTest, IsFilteredByObjectTimeAndNumber) {
    const std::size_t first = store_->history({})->size();
    for (int i = 0; i < 5; ++i) {
        const Command command = parse_command("c p p" + std::to_string(i));
        ASSERT_TRUE(store_->execute(command, kManager, kNow + std::chrono::seconds(i)));
    }
    EXPECT_EQ(store_->history({})->size(), first + 5);
    HistoryQuery query;
    query.from = kNow + std::chrono::seconds(2);
    query.until = kNow + std::chrono::seconds(4);
    EXPECT_EQ(store_->history(query)->size(), 2U);
    query = {};
    query.limit = 1;
    EXPECT_EQ(store_->history(query)->front().object, "p4");
    query = {};
    query.type = ObjectType::sched;
    EXPECT_EQ(store_->history(query)->front().command, "set sched default policy = default_policy");
}

TEST_F(HistoryTest, FirstRevisionsAreTheServersOwn) {
    const auto history = store_->history({});
    ASSERT_EQ(history->size(), 2U);
    EXPECT_EQ(history->front().command, "create policy default_policy");
    EXPECT_EQ(history->front().user, "pbs_policy");
}

}  // namespace
}  // namespace pbs::objects
