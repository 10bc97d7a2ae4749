#include "server_plugin/host/change/commit_group.h"

#include <sqlite3.h>

#include "server_plugin/host/change/counters.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

// Tests submissions that share a commit, without a network: each submission is answered by a call, then all
// are committed together.
class CommitGroupTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("batch");
    }
    std::string submit_to_group(const std::string& script = "sleep 1\n") {
        server_->commit_group.take(true);
        std::string id = submit(user(), {attribute("Resource_List.ncpus", "1")}, "batch", script);
        server_->commit_group.take(false);
        return id;
    }
    // Counts the jobs over another connection to the database, which sees only committed jobs.
    int64_t stored_jobs() const { return query("SELECT count(*) FROM job"); }
    int64_t query(const std::string& sql) const {
        sqlite3* db = nullptr;
        int64_t number = -1;
        EXPECT_EQ(sqlite3_open((folder_ + "/server.db").c_str(), &db), SQLITE_OK);
        const auto take = [](void* to, int, char** values, char**) {
            *static_cast<int64_t*>(to) = std::stoll(values[0]);
            return 0;
        };
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), take, &number, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
        return number;
    }
};

TEST_F(CommitGroupTest, SubmissionsOfAGroupAreStoredAndBecomeKnownTogether) {
    server_->take_wanted_cycles();
    const std::string first = submit_to_group();
    const std::string second = submit_to_group();
    EXPECT_TRUE(server_->commit_group.uncommitted());
    EXPECT_EQ(stored_jobs(), 0);
    EXPECT_EQ(accounting_text().find(first), std::string::npos);
    EXPECT_FALSE(server_->cycles_wanted());
    ASSERT_TRUE(server_->commit_group.commit());
    EXPECT_FALSE(server_->commit_group.uncommitted());
    EXPECT_EQ(stored_jobs(), 2);
    EXPECT_NE(accounting_text().find(";Q;" + first), std::string::npos);
    EXPECT_NE(accounting_text().find(";Q;" + second), std::string::npos);
    EXPECT_TRUE(server_->cycles_wanted());
    open_server();
    EXPECT_EQ(job_shows(first, "job_state"), "Q");
    EXPECT_EQ(job_shows(second, "job_state"), "Q");
    EXPECT_EQ(store_->script(server_->state.job(second)->sequence), "sleep 1\n");
}

// The number of the next job is committed with the jobs. So no later job gets a used number, however the
// server ends.
TEST_F(CommitGroupTest, TheNextNumberIsStoredWithThem) {
    submit_to_group();
    const std::string last = submit_to_group();
    ASSERT_TRUE(server_->commit_group.commit());
    open_server();
    EXPECT_EQ(server_->state.next_sequence, std::stoll(last) + 1);
}

// Jobs share the memory of equal texts from their submission on, not only after a restart.
TEST_F(CommitGroupTest, JobsShareTheMemoryOfEqualTexts) {
    const auto where = [&](const std::string& id, std::string_view name) {
        return server_->state.job(id)->attributes.text(name).data();
    };
    const std::string first = submit_to_group();
    const std::string second = submit_to_group();
    ASSERT_TRUE(server_->commit_group.commit());
    const std::string third = submit(user(), {attribute("Resource_List.ncpus", "1")}, "batch", "sleep 1\n");
    for (const char* name : {"Job_Owner", "Variable_List", "project", "Submit_Host"}) {
        ASSERT_NE(where(first, name), nullptr) << name;
        EXPECT_EQ(where(first, name), where(second, name)) << name;
        EXPECT_EQ(where(first, name), where(third, name)) << name;
    }
}

TEST_F(CommitGroupTest, LimitsCountThoseThatArentCommittedYet) {
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "batch", "max_queuable", "2"), 0);
    submit_to_group();
    submit_to_group();
    EXPECT_EQ(submit_to_group(), std::to_string(PBSE_MAXQUED));
    ASSERT_TRUE(server_->commit_group.commit());
    EXPECT_EQ(stored_jobs(), 2);
}

TEST_F(CommitGroupTest, OneThatFailsTakesNothingOfTheOthers) {
    query(
        "CREATE TRIGGER fails BEFORE INSERT ON job_script WHEN NEW.script = CAST('bad' AS BLOB) "
        "BEGIN SELECT RAISE(ABORT, 'no room'); END");
    const std::string first = submit_to_group();
    EXPECT_EQ(submit_to_group("bad"), std::to_string(PBSE_SYSTEM));
    const std::string third = submit_to_group();
    ASSERT_TRUE(server_->commit_group.commit());
    EXPECT_EQ(stored_jobs(), 2);
    EXPECT_EQ(server_->state.jobs().size(), 2U);
    open_server();
    EXPECT_EQ(job_shows(first, "job_state"), "Q");
    EXPECT_EQ(job_shows(third, "job_state"), "Q");
}

TEST_F(CommitGroupTest, ACommitThatFailsLeavesNoneOfThem) {
    const std::string before = submit(user(), {}, "batch");
    query("ALTER TABLE last_commit RENAME TO hidden");
    const std::string first = submit_to_group();
    const std::string second = submit_to_group();
    EXPECT_EQ(server_->state.jobs().size(), 3U);
    EXPECT_FALSE(server_->commit_group.commit());
    EXPECT_EQ(server_->state.jobs().size(), 1U);
    EXPECT_EQ(server_->state.queue_counts(server_->state.queue("batch")->handle).total(), 1);
    EXPECT_EQ(accounting_text().find(first), std::string::npos);
    // Submissions succeed again when the database can be written again.
    query("ALTER TABLE hidden RENAME TO last_commit");
    const std::string third = submit_to_group();
    ASSERT_TRUE(server_->commit_group.commit());
    open_server();
    EXPECT_EQ(job_shows(before, "job_state"), "Q");
    EXPECT_EQ(server_->state.job(second), nullptr);
    EXPECT_EQ(job_shows(third, "job_state"), "Q");
}

// If a disk is full, SQLite itself rolls the transaction back.
TEST_F(CommitGroupTest, ATransactionThatTheDatabaseGaveUpLeavesNoneOfThem) {
    query(
        "CREATE TRIGGER fails BEFORE INSERT ON job_script WHEN NEW.script = CAST('bad' AS BLOB) "
        "BEGIN SELECT RAISE(ROLLBACK, 'disk full'); END");
    submit_to_group();
    EXPECT_EQ(submit_to_group("bad"), std::to_string(PBSE_SYSTEM));
    EXPECT_EQ(submit_to_group(), std::to_string(PBSE_SYSTEM)) << "it isn't a member of what is lost";
    EXPECT_FALSE(server_->commit_group.commit());
    EXPECT_TRUE(server_->state.jobs().empty());
    EXPECT_EQ(stored_jobs(), 0);
    submit_to_group();
    ASSERT_TRUE(server_->commit_group.commit());
    EXPECT_EQ(stored_jobs(), 1);
}

TEST_F(CommitGroupTest, AnotherChangeIsMadeBehindThem) {
    const std::string first = submit_to_group();
    const ifl::Reply held = ask(user(), ifl::RequestType::hold_job,
                                ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, first, {attribute("Hold_Types", "u")}});
    EXPECT_EQ(held.code, 0);
    EXPECT_FALSE(server_->commit_group.uncommitted());
    EXPECT_TRUE(server_->commit_group.commit()) << "the outcome of the one that was made";
    open_server();
    EXPECT_EQ(job_shows(first, "job_state"), "H");
}

}  // namespace
}  // namespace pbs::host
