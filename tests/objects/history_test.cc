#include "objects/history.h"

#include <gmock/gmock.h>

#include "objects/database.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class HistoryTest : public StoreTest {};

TEST_F(HistoryTest, TellsWhoFromWhereWhenAndWhat) {
    run("c p p1 by_queue=False");
    ASSERT_TRUE(store_->execute(parse_command("s p p1 batch_queues=\"queue1,workq\", comment=\"by night\""),
                                {"ann", "h2", root_privilege}, kNow + std::chrono::seconds(5)));
    run("d p p1");
    const auto history = store_->history({{ObjectType::policy}, "p1", {}, {}, 10});
    ASSERT_TRUE(history);
    ASSERT_EQ(history->size(), 3U);
    const HistoryEntry& set = (*history)[1];
    EXPECT_EQ(set.user, "ann");
    EXPECT_EQ(set.host, "h2");
    EXPECT_EQ(set.at, kNow + std::chrono::seconds(5));
    EXPECT_EQ(set.command, "set policy p1 batch_queues = \"queue1,workq\", comment = \"by night\"");
    EXPECT_EQ(set.before, R"({"by_queue":"False"})");
    EXPECT_EQ(set.after, R"({"by_queue":"False","comment":"by night","batch_queues":["queue1","workq"]})");
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

TEST_F(HistoryTest, GoesOnBeforeARevision) {
    for (int i = 0; i < 5; ++i) run("c p p" + std::to_string(i));
    HistoryQuery query;
    query.limit = 2;
    query.before_revision = 6;
    const auto page = store_->history(query);
    ASSERT_TRUE(page);
    ASSERT_EQ(page->size(), 2U);
    EXPECT_EQ(page->front().revision, 4U);
    query.before_revision = 1;
    EXPECT_TRUE(store_->history(query)->empty());
    query = {};
    query.bytes = 1;
    ASSERT_EQ(store_->history(query)->size(), 1U);
    EXPECT_EQ(store_->history(query)->front().revision, 7U);
}

// Rows are made while the clock is set back in between. Queries by time give them in the order of time, page
// after page.
TEST_F(HistoryTest, PagesByTimeWhenTheClockWasSetBack) {
    for (const int second : {50, 10, 40, 10, 20}) {
        const Command command = parse_command("c p p" + std::to_string(store_->snapshot()->revision()));
        ASSERT_TRUE(store_->execute(command, kManager, kNow + std::chrono::seconds(second)));
    }
    HistoryQuery query;
    query.from = kNow + std::chrono::seconds(1);
    query.limit = 2;
    std::vector<std::uint64_t> revisions;
    for (;;) {
        const auto page = store_->history(query);
        ASSERT_TRUE(page);
        if (page->empty()) break;
        for (auto entry = page->rbegin(); entry != page->rend(); ++entry)
            revisions.push_back(entry->revision);
        query.before_revision = page->front().revision;
    }
    EXPECT_THAT(revisions, testing::ElementsAre(3, 5, 7, 6, 4));
    query = {};
    query.type = ObjectType::policy;
    query.until = kNow + std::chrono::seconds(20);
    EXPECT_EQ(store_->history(query)->size(), 3U);
    query.object = "p3";
    query.from = kNow + std::chrono::seconds(1);
    EXPECT_EQ(store_->history(query)->size(), 1U);
}

// Each query uses an index, so that it doesn't read the whole history.
TEST_F(HistoryTest, QueriesFollowAnIndex) {
    const auto plan = [&](std::string_view sql) {
        Statement rows = store_->database().statement("EXPLAIN QUERY PLAN " + std::string(sql));
        std::string text;
        for (auto row = rows.step(); row && *row; row = rows.step()) text += rows.text(3) + "\n";
        return text;
    };
    for (const bool object : {false, true}) {
        for (const bool type : {object, true}) {
            for (const bool time : {false, true}) {
                HistoryQuery query;
                if (type) query.type = ObjectType::policy;
                if (object) query.object = "p1";
                if (time) query.from = kNow;
                const std::string sql = history_sql(query);
                const std::string found = plan(sql);
                EXPECT_THAT(found, testing::HasSubstr("SEARCH history USING")) << sql;
                if (!object || !time) {
                    EXPECT_THAT(found, testing::Not(testing::HasSubstr("TEMP B-TREE"))) << sql << found;
                }
            }
        }
    }
}

TEST_F(HistoryTest, FirstRevisionsAreTheServersOwn) {
    const auto history = store_->history({});
    ASSERT_EQ(history->size(), 2U);
    EXPECT_EQ(history->front().command, "create policy default_policy");
    EXPECT_EQ(history->front().user, "pbs_policy");
}

}  // namespace
}  // namespace pbs::objects
