// fairshare in a real server: who has used less goes first, also after a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <optional>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

class FairShare : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue qa queue_type=execution, enabled=True, started=True",
            "create queue qb queue_type=execution, enabled=True, started=True",
            "set server job_history_enable = True",
            "create node n1 resources_available.ncpus = 2, resources_available.mem = 2gb",
            "create fs_group f1 tree_element = [qa:root = 50, qb:root = 50], entity = queue",
            "set fs_group f1 usage_formula = 'ncpus*walltime', decay_time = 1000:00:00",
            "set policy default_policy by_queue = False, fairshare_group = f1, fairshare = True",
        }));
    }
    std::string job(const std::string& queue) {
        return server.submit("sleep 60\n", {"-q", queue, "-l", "ncpus=2", "-l", "walltime=10:00:00"});
    }
    // What the store has of a queue.
    std::optional<double> stored(const std::string& queue) {
        sqlite3* database = nullptr;
        const std::string path = (server.home() / "server_priv/policy.db").string();
        std::optional<double> amount;
        if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
            const std::string question =
                "SELECT amount FROM usage WHERE scope = 'fs_group:f1' AND user = '" + queue + "'";
            sqlite3_stmt* statement = nullptr;
            if (sqlite3_prepare_v2(database, question.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW)
                amount = sqlite3_column_double(statement, 0);
            sqlite3_finalize(statement);
        }
        sqlite3_close(database);
        return amount;
    }
    // Submitted in this order while nothing starts: which of them runs then?
    std::string first_of(const std::string& a, const std::string& b) {
        EXPECT_TRUE(server.configure({"set server scheduling = False"}));
        const std::string one = job(a);
        const std::string other = job(b);
        EXPECT_TRUE(server.configure({"set server scheduling = True"}));
        EXPECT_TRUE(wait_for(
            [&] { return server.job(one, "job_state") == "R" || server.job(other, "job_state") == "R"; }));
        std::string first = server.job(one, "job_state") == "R" ? a : b;
        EXPECT_EQ(server.command({"qdel", "-W", "force", one, other}).exit, 0);
        EXPECT_TRUE(server.wait_job_state(one, "F"));
        EXPECT_TRUE(server.wait_job_state(other, "F"));
        return first;
    }

    Server server;
};

TEST_F(FairShare, WhoHasUsedLessGoesFirstAlsoAfterACrash) {
    EXPECT_EQ(first_of("qa", "qb"), "qa") << "nobody has used anything";
    const std::string long_job = job("qa");
    ASSERT_TRUE(server.wait_job_state(long_job, "R"));
    server.set_clock(kMonday10 + 2 * 3600);
    // The usage of a running job follows from when it started.
    server.kill9();
    ASSERT_TRUE(server.start());
    server.set_clock(kMonday10 + 2 * 3600);
    ASSERT_TRUE(server.wait_job_state(long_job, "R"));
    ASSERT_EQ(server.command({"qdel", "-W", "force", long_job}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(long_job, "F"));
    EXPECT_TRUE(wait_for([&] { return stored("qa").value_or(0) > 2 * 7000; }));
    EXPECT_LT(stored("qa").value_or(0), 2 * 7400);
    EXPECT_EQ(first_of("qa", "qb"), "qb");
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(first_of("qa", "qb"), "qb");
}

TEST_F(FairShare, EntitiesWithoutSharesNeverStart) {
    ASSERT_TRUE(server.configure({"create queue qc queue_type=execution, enabled=True, started=True",
                                  "set fs_group f1 unknown_shares = 0, enforce_no_shares = True"}));
    const std::string none = job("qc");
    EXPECT_TRUE(wait_for([&] {
        return server.job(none, "comment") == "Not Running: Job has zero shares for fairshare";
    })) << server.job(none, "comment");
    ASSERT_TRUE(server.configure({"set fs_group f1 unknown_shares = 5"}));
    EXPECT_TRUE(server.wait_job_state(none, "R")) << "in the next cycle";
}

}  // namespace
}  // namespace pbs::e2e
