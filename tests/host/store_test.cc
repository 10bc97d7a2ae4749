#include "server_plugin/host/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

class StoreTest : public testing::Test {
  protected:
    void SetUp() override {
        path_ = testing::TempDir() + "store." + std::to_string(getpid()) + ".db";
        TearDown();
    }
    void TearDown() override {
        for (const char* suffix : {"", "-wal", "-shm", "-mark"}) std::filesystem::remove(path_ + suffix);
    }
    void sql(const char* text) {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }
    // Returns the first column of the first row of a query's result.
    int64_t number(const char* text) {
        sqlite3* db = nullptr;
        EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
        int64_t found = -1;
        const auto take = [](void* to, int, char** values, char**) {
            *static_cast<int64_t*>(to) = std::stoll(values[0]);
            return 0;
        };
        EXPECT_EQ(sqlite3_exec(db, text, take, &found, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
        return found;
    }
    Job job(uint64_t sequence) {
        Job one;
        one.sequence = sequence;
        one.state = job_state::kQueued;
        one.attributes.set(*job_table().find("Job_Name"), {}, "with \"quotes\", 7:colons and \n lines");
        one.defaulted = SharedText("ncpus,place");
        return one;
    }

    std::string path_;
};

TEST_F(StoreTest, ADatabaseIsItsOwnersOnly) {
    ASSERT_TRUE(Store::open(path_));
    struct stat info {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(StoreTest, TheServersNameIsKeptFromTheFirstStart) {
    EXPECT_EQ((*Store::open(path_))->keep_server_name("alpha").value(), "alpha");
    EXPECT_EQ((*Store::open(path_))->keep_server_name("beta").value(), "alpha");
}

TEST_F(StoreTest, JobsComeBackAsTheyWere) {
    {
        auto store = std::move(*Store::open(path_));
        ASSERT_TRUE(store->begin());
        ASSERT_TRUE(store->save(job(5)));
        ASSERT_TRUE(store->save_script(job(5), std::string_view("a\0b", 3)));
        ASSERT_TRUE(store->commit());
    }
    auto store = std::move(*Store::open(path_));
    State state;
    state.server_name = "svr";
    ASSERT_TRUE(store->load(state));
    const Job* found = state.job("5.svr");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->attributes, job(5).attributes);
    EXPECT_EQ(found->defaulted, job(5).defaulted);
    EXPECT_EQ(*store->script(5), std::string("a\0b", 3));
    // Saving the job again keeps its script.
    ASSERT_TRUE(store->save(job(5)));
    EXPECT_TRUE(store->script(5));
    ASSERT_TRUE(store->remove_job(5));
    EXPECT_FALSE(store->script(5));
}

// The table of comments has each text once. Loaded jobs share the text.
TEST_F(StoreTest, JobsThatWaitForTheSameShareTheirComment) {
    {
        auto store = std::move(*Store::open(path_));
        ASSERT_TRUE(store->begin());
        for (uint64_t sequence = 1; sequence <= 3; ++sequence) ASSERT_TRUE(store->save(job(sequence)));
        ASSERT_TRUE(store->save_comment(1, "Not Running: no room", 50));
        ASSERT_TRUE(store->save_comment(2, "Not Running: no room", 60));
        ASSERT_TRUE(store->save_comment(3, "Not Running: no room", 70));
        ASSERT_TRUE(store->save_comment(3, "", 80));
        ASSERT_TRUE(store->commit());
    }
    EXPECT_EQ(number("SELECT count(*) FROM comment"), 1);
    State state;
    state.server_name = "svr";
    ASSERT_TRUE((*Store::open(path_))->load(state));
    EXPECT_EQ(state.job("1")->attributes.text("comment"), "Not Running: no room");
    EXPECT_EQ(state.job("1")->mtime, 50);
    EXPECT_EQ(state.job("2")->mtime, 60);
    EXPECT_FALSE(state.job("3")->attributes.has("comment"));
    // The jobs share the text in memory, too.
    EXPECT_EQ(state.job("1")->attributes.text("comment").data(),
              state.job("2")->attributes.text("comment").data());
}

// A comment that was stored alone isn't stored a second time with its whole job. It is deleted with the job.
TEST_F(StoreTest, ACommentGoesWithItsJob) {
    const AttributeDef& def = *job_table().find("comment");
    {
        auto store = std::move(*Store::open(path_));
        Job one = job(1);
        one.attributes.set(def, {}, "it waits");
        ASSERT_TRUE(store->save(one));
        Job other = job(2);
        ASSERT_TRUE(store->save(other));
        ASSERT_TRUE(store->save_comment(2, "it waits", 5));
        other.state = job_state::kRunning;
        other.attributes.set(def, {}, "it runs");
        ASSERT_TRUE(store->save(other));
        ASSERT_TRUE(store->save(job(3)));
        ASSERT_TRUE(store->save_comment(3, "it waits", 5));
        ASSERT_TRUE(store->remove_job(3));
    }
    EXPECT_EQ(number("SELECT count(*) FROM job_comment"), 1);
    State state;
    state.server_name = "svr";
    ASSERT_TRUE((*Store::open(path_))->load(state));
    EXPECT_EQ(state.job("1")->attributes.text("comment"), "it waits");
    EXPECT_EQ(state.job("2")->attributes.text("comment"), "it runs");
}

TEST_F(StoreTest, CommentsThatNoJobHasAreForgotten) {
    auto store = std::move(*Store::open(path_));
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->save(job(1)));
    ASSERT_TRUE(store->save(job(2)));
    ASSERT_TRUE(store->save_comment(2, "kept", 1));
    for (int64_t i = 0; i < 1000; ++i) ASSERT_TRUE(store->save_comment(1, std::to_string(i), i));
    ASSERT_TRUE(store->commit());
    EXPECT_LE(number("SELECT count(*) FROM comment"), 10);
    EXPECT_EQ(number("SELECT count(*) FROM comment WHERE text IN ('kept', '999')"), 2);
}

TEST_F(StoreTest, JobsComeBackInTheOrderOfTheirQueueing) {
    auto store = std::move(*Store::open(path_));
    for (const auto& [sequence, rank] :
         {std::pair(3, 1), std::pair(1, 2), std::pair(2, 2), std::pair(4, 3)}) {
        Job one = job(static_cast<uint64_t>(sequence));
        one.queue_rank = rank;
        ASSERT_TRUE(store->save(one));
    }
    State state;
    ASSERT_TRUE(store->load(state));
    std::vector<uint64_t> order;
    for (const auto& [handle, one] : state.jobs()) order.push_back(one.sequence);
    EXPECT_THAT(order, testing::ElementsAre(3, 1, 2, 4));
}

// The jobs with even numbers were queued long after those with odd numbers, so loading has to sort them.
TEST_F(StoreTest, JobsInWhateverOrderComeBackInThatOfTheirQueueing) {
    constexpr uint64_t kJobs = 600;
    {
        auto store = std::move(*Store::open(path_));
        ASSERT_TRUE(store->begin());
        for (uint64_t sequence = 1; sequence <= kJobs; ++sequence) {
            Job one = job(sequence);
            one.queue_rank = static_cast<int64_t>(sequence % 2 == 0 ? sequence : sequence + kJobs);
            ASSERT_TRUE(store->save(one));
        }
        ASSERT_TRUE(store->commit());
    }
    State state;
    state.server_name = "svr";
    ASSERT_TRUE((*Store::open(path_))->load(state));
    ASSERT_EQ(state.jobs().size(), kJobs);
    EXPECT_EQ(state.counts().total(), static_cast<int64_t>(kJobs));
    EXPECT_TRUE(
        std::ranges::is_sorted(state.jobs(), {}, [](const auto& one) { return one.second.queue_rank; }));
    for (uint64_t sequence = 1; sequence <= kJobs; ++sequence) {
        const Job* found = state.job_of_sequence(sequence);
        ASSERT_NE(found, nullptr) << sequence;
        EXPECT_EQ(found, state.job(found->handle));
        EXPECT_TRUE(state.queue_jobs(found->queue).contains(found->handle));
    }
}

TEST_F(StoreTest, NothingIsWrittenBeforeTheDatabaseIsKnownToBeWhole) {
    ASSERT_TRUE((*Store::open(path_))->save(job(1)));
    ASSERT_TRUE(std::filesystem::remove(path_ + "-mark"));
    bool asked = false;
    auto store = Store::open(path_, [&asked]() -> Result<void> {
        asked = true;
        return fail(1, "half of it is gone");
    });
    ASSERT_TRUE(store);
    EXPECT_FALSE(asked);
    State state;
    state.server_name = "svr";
    const auto loaded = (*store)->load(state);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message, "half of it is gone");
    EXPECT_NE(state.job("1"), nullptr) << "it was read meanwhile";
    EXPECT_FALSE((*store)->begin());
    store->reset();
    EXPECT_FALSE(std::filesystem::exists(path_ + "-mark"));
}

TEST_F(StoreTest, WhatFollowsASavepointCanBeTakenBackAlone) {
    auto store = std::move(*Store::open(path_));
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->save(job(1)));
    ASSERT_TRUE(store->set_savepoint());
    ASSERT_TRUE(store->save(job(2)));
    ASSERT_TRUE(store->save_comment(2, "new", 1));
    ASSERT_TRUE(store->go_to_savepoint());
    ASSERT_TRUE(store->set_savepoint());
    ASSERT_TRUE(store->save(job(3)));
    ASSERT_TRUE(store->save_comment(3, "new", 1));
    ASSERT_TRUE(store->release_savepoint());
    ASSERT_TRUE(store->commit());
    State state;
    ASSERT_TRUE(store->load(state));
    EXPECT_NE(state.job_of_sequence(1), nullptr);
    EXPECT_EQ(state.job_of_sequence(2), nullptr);
    EXPECT_EQ(state.job_of_sequence(3)->attributes.text("comment"), "new");
    store->rollback();
    EXPECT_FALSE(store->go_to_savepoint()) << "there is no transaction";
}

TEST_F(StoreTest, AChangedNodeIsStoredByWhatIsDifferent) {
    const auto def = [](std::string_view name) -> const AttributeDef& { return *node_table().find(name); };
    Node before;
    before.handle = 7;
    before.name = "n1";
    before.attributes.set(def("resources_available"), "ncpus", "4");
    before.attributes.set(def("resources_available"), "mem", "8gb");
    before.attributes.set(def("comment"), {}, "old");
    Node after = before;
    after.attributes.set(def("resources_available"), "ncpus", "8");
    after.attributes.set(def("resources_available"), "arch", "linux");
    after.attributes.unset(def("comment"), {});
    auto store = std::move(*Store::open(path_));
    ASSERT_TRUE(store->save(before));
    sql("UPDATE object_attribute SET value='7gb' WHERE resource='mem'");
    ASSERT_TRUE(store->save(after, &before));
    after.attributes.set(def("resources_available"), "mem", "7gb");
    State state;
    ASSERT_TRUE(store->load(state));
    ASSERT_NE(state.node("n1"), nullptr);
    EXPECT_EQ(state.node("n1")->attributes, after.attributes);
}

TEST_F(StoreTest, WhatIsRolledBackIsNotThere) {
    auto store = std::move(*Store::open(path_));
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->save(job(5)));
    store->rollback();
    State state;
    ASSERT_TRUE(store->load(state));
    EXPECT_TRUE(state.jobs().empty());
}

// A change moves objects that were set aside to their places, and is then rolled back. The objects are then
// aside again.
TEST_F(StoreTest, WhatIsPutAsideHoldsThroughAChangeThatIsRolledBack) {
    const AttributeDef& comment = *node_table().find("comment");
    Node node;
    node.handle = 7;
    node.name = "n1";
    node.attributes.set(comment, {}, "first");
    auto store = std::move(*Store::open(path_));
    State state;
    state.put(node);
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->clear_aside());
    ASSERT_TRUE(store->put_aside({PBS_OBJ_NODE, "n1"}, state));
    ASSERT_TRUE(store->let_aside_hold());
    EXPECT_FALSE(store->behind());
    ASSERT_TRUE(store->commit());
    EXPECT_TRUE(store->behind());
    node.attributes.set(comment, {}, "refused");
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->save(node));
    store->rollback();
    EXPECT_TRUE(store->behind());
    node.attributes.set(comment, {}, "later");
    ASSERT_TRUE(store->begin());
    ASSERT_TRUE(store->save(node));
    ASSERT_TRUE(store->commit());
    EXPECT_FALSE(store->behind());
    State found;
    ASSERT_TRUE((*Store::open(path_))->load(found));
    ASSERT_NE(found.node("n1"), nullptr);
    EXPECT_EQ(found.node("n1")->attributes.text("comment"), "later");
}

TEST_F(StoreTest, ANewerDatabaseIsRefused) {
    ASSERT_TRUE(Store::open(path_));
    sql("PRAGMA user_version=99");
    const auto store = Store::open(path_);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message, testing::HasSubstr("newer"));
}

// If another version has more attributes or fewer, the remaining ones keep their numbers in the database.
TEST_F(StoreTest, AttributesKeepTheirNumbers) {
    {
        auto store = std::move(*Store::open(path_));
        ASSERT_TRUE(store->save(job(5)));
    }
    const int64_t last = number("SELECT max(id) FROM attribute_name");
    sql("UPDATE attribute_name SET name='unheard' WHERE name='comment'");
    auto store = std::move(*Store::open(path_));
    EXPECT_EQ(number("SELECT id FROM attribute_name WHERE name='comment'"), last + 1);
    State state;
    state.server_name = "svr";
    ASSERT_TRUE(store->load(state));
    EXPECT_EQ(state.job("5")->attributes, job(5).attributes);
    sql("UPDATE attribute_name SET name='unheard of' WHERE name='Job_Name'");
    State later;
    later.server_name = "svr";
    ASSERT_TRUE((*Store::open(path_))->load(later));
    EXPECT_TRUE(later.job("5")->attributes.values().empty());
}

TEST_F(StoreTest, ADamagedJobIsNamed) {
    {
        auto store = std::move(*Store::open(path_));
        ASSERT_TRUE(store->save(job(5)));
    }
    for (const char* damaged : {"'8:Job_Name,0:,9:short,'", "x'01010009'", "x'01cf0f000178'", "x'010000017a'",
                                "x'01ffffffffffffff'"}) {
        sql(("UPDATE job SET attributes=" + std::string(damaged)).c_str());
        auto store = std::move(*Store::open(path_));
        State state;
        state.server_name = "svr";
        const auto loaded = store->load(state);
        ASSERT_FALSE(loaded) << damaged;
        EXPECT_THAT(loaded.error().message, testing::HasSubstr("5.svr"));
    }
}

}  // namespace
}  // namespace pbs::host
