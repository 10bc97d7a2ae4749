// Tests fairshare in a running server: the job of the entity that has used less starts first, also after a
// crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <optional>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

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
    // Returns the usage that policy.db has stored for the fairshare entity of a queue's jobs; nullopt: none.
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
    // Submits a job to queue a and then one to queue b, while scheduling is off. Returns the queue whose job
    // starts first.
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
    NEEDS(injected_clock);
    EXPECT_EQ(first_of("qa", "qb"), "qa") << "nobody has used anything";
    const std::string long_job = job("qa");
    ASSERT_TRUE(server.wait_job_state(long_job, "R"));
    server.set_clock(kMonday10 + 2 * 3600);
    // The usage of a running job is computed from its start, so a crash doesn't lose it.
    server.kill9();
    ASSERT_TRUE(server.start());
    server.set_clock(kMonday10 + 2 * 3600);
    ASSERT_TRUE(server.wait_job_state(long_job, "R"));
    ASSERT_EQ(server.command({"qdel", "-W", "force", long_job}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(long_job, "F"));
    EXPECT_TRUE(wait_for([&] { return stored("qa").value_or(0) > 2 * 7000; }));
    EXPECT_LT(stored("qa").value_or(0), 2 * 7400);
    EXPECT_EQ(first_of("qa", "qb"), "qb");
    ASSERT_EQ(server.command({"pbs_fairshare", "-d"}).exit, 0);
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_THAT(server.command({"pbs_fairshare", "-F", "json"}).out,
                ContainsRegex("\"name\": \"qa\",[^}]*\"long_usage\": 14[0-9][0-9][0-9]"))
        << "it doesn't decay";
    EXPECT_EQ(first_of("qa", "qb"), "qb");
}

TEST_F(FairShare, EntitiesWithoutSharesNeverStart) {
    ASSERT_TRUE(server.configure({"create queue qc queue_type=execution, enabled=True, started=True",
                                  "set fs_group f1 unknown_shares = 0, enforce_no_shares = True"}));
    const std::string none = job("qc");
    EXPECT_TRUE(wait_for([&] {
        return server.job(none, "comment") == "Can Never Run: Job has zero shares for fairshare";
    })) << server.job(none, "comment");
    ASSERT_TRUE(server.configure({"set fs_group f1 unknown_shares = 5"}));
    EXPECT_TRUE(server.wait_job_state(none, "R")) << "in the next cycle";
}

TEST_F(FairShare, TheTreeIsShownAndChanged) {
    ASSERT_TRUE(server.configure({"set fs_group f1 tree_element = [qa:root = 75, qb:root = 25]"}));
    const Output set = server.command({"pbs_fairshare", "-s", "qa", "5000"});
    ASSERT_EQ(set.exit, 0) << set.err;
    EXPECT_EQ(stored("qa"), 5000) << "it is in the store when the command ends";
    if (!on_openpbs()) EXPECT_THAT(server.log(), HasSubstr("attributes set usage.qa = 5000 at request of "));
    const Output text = server.command({"pbs_fairshare"});
    ASSERT_EQ(text.exit, 0) << text.err;
    EXPECT_THAT(text.out, StartsWith("fs_group f1 of sched default, "));
    EXPECT_THAT(text.out,
                ContainsRegex("\n  qa +75 +68\\.182% +[0-9.]+% +5000 +2500 +0 +2 +0 +0 +0[.]000% "));
    EXPECT_EQ(server.command({"pbs_fairshare", "-t"}).out,
              "root\n    qa (75)\n    qb (25)\n    unknown (10)\n");
    EXPECT_THAT(server.command({"pbs_fairshare", "-c", "qa", "qb"}).out, StartsWith("qb goes before qa: "));
    EXPECT_EQ(first_of("qa", "qb"), "qb");
    EXPECT_THAT(server.command({"pbs_fairshare", "-g", "qa"}).out, Not(HasSubstr("qb")));
    EXPECT_THAT(server.command({"pbs_fairshare", "-F", "json", "-G", "f1", "-I", "default"}).out,
                HasSubstr("\"fs_group\": \"f1\""));
    const std::string picture = (server.home() / "shares.svg").string();
    EXPECT_EQ(server.command({"pbs_fairshare", "--svg", picture}).exit, 0);
    EXPECT_EQ(fs::file_size(picture) > 500, true);

    ASSERT_EQ(server.command({"pbs_fairshare", "-d"}).exit, 0);
    EXPECT_EQ(stored("qa"), 2500);
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_THAT(server.command({"pbs_fairshare"}).out,
                ContainsRegex("\n  qa .* 2500 +1250 +[0-9.]+ +2 +0 +0 "));
    EXPECT_EQ(server.command({"pbs_fairshare", "-e"}).exit, 0);

    const Output unknown = server.command({"pbs_fairshare", "-s", "qz", "1"});
    EXPECT_EQ(unknown.exit, 166);
    EXPECT_THAT(unknown.err, HasSubstr("fs_group f1 has no entity qz"));
    EXPECT_EQ(server.command({"pbs_fairshare", "-g", "qz"}).exit, 1);
    EXPECT_EQ(server.command({"pbs_fairshare", "-d", "-e"}).exit, 2);
    const Output none = server.command({"pbs_fairshare", "--tickets"});
    EXPECT_EQ(none.exit, 15004 % 256);
    EXPECT_THAT(none.err, HasSubstr("policy default_policy gives no tickets"));
    EXPECT_EQ(server.command({"pbs_fairshare", "-F", "xml"}).exit, 2);
    EXPECT_EQ(server.command({"pbs_fairshare", "-I", "s9"}).exit, 15213 % 256);
    EXPECT_EQ(server.command({"pbs_fairshare", "--svg", "/nowhere/x.svg"}).exit, 1);
    ASSERT_TRUE(server.configure({"set policy default_policy fairshare = False"}));
    EXPECT_THAT(server.command({"pbs_fairshare"}).out, HasSubstr("No policy goes by these shares"));
    EXPECT_EQ(server.command({"pbs_fairshare", "-s", "qa", "70"}).exit, 0);
    EXPECT_EQ(stored("qa"), 70);
    ASSERT_TRUE(server.configure({"unset policy default_policy fairshare_group"}));
    EXPECT_EQ(server.command({"pbs_fairshare"}).exit, 108);
}

TEST_F(FairShare, ManagersWithoutRootChangeIt) {
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    const auto as_other = [&](const std::vector<std::string>& command) {
        return server.command_as(*other(), command);
    };
    EXPECT_EQ(as_other({"pbs_fairshare", "-s", "qa", "7"}).exit, 159);
    EXPECT_THAT(as_other({"pbs_fairshare"}).out, Not(HasSubstr("qa"))) << "he has no job there";
    ASSERT_TRUE(server.configure({"set server operators += " + other()->name + "@*"}));
    EXPECT_EQ(as_other({"pbs_fairshare", "-d"}).exit, 159);
    ASSERT_TRUE(server.configure({"set server managers += " + other()->name + "@*"}));
    const Output done = as_other({"pbs_fairshare", "-s", "qa", "7"});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_EQ(stored("qa"), 7);
    if (!on_openpbs())
        EXPECT_THAT(server.log(),
                    HasSubstr("attributes set usage.qa = 7 at request of " + other()->name + "@"));
}

TEST_F(FairShare, AnExplanationTellsHowTheEntityStands) {
    const std::string running = job("qa");
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    const std::string waiting = job("qa");
    ASSERT_EQ(server.command({"pbs_fairshare", "-s", "qa", "5000"}).exit, 0);
    const Output text = server.command({"pbs_explain", waiting});
    EXPECT_THAT(text.out, HasSubstr("\nShares: qa in fs_group f1 is 1 of 1 entities with jobs: "))
        << text.err;
}

}  // namespace
}  // namespace pbs::e2e
