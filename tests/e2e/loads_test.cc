// Tests loads of vnodes, which a script sets: they affect the order in which vnodes are tried, thresholds and
// explanations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

class Loads : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "set server default_queue=work",
            "create resource load_avg type=float, flag=h",
            "create node n1 resources_available.ncpus=4",
            "create node n2 resources_available.ncpus=4",
            "set node n1 resources_available.load_avg=3",
            "set node n2 resources_available.load_avg=0.5",
        }));
    }
    std::string submit() { return server.submit("sleep 60\n", {"-l", "select=1:ncpus=1"}); }
    bool waits_for_load(const std::string& job, const std::string& text) {
        return wait_for([&] { return server.job(job, "comment").find(text) != std::string::npos; });
    }
    Server server;
};

TEST_F(Loads, OrderVnodesAndCloseThem) {
    ASSERT_TRUE(server.configure({
        R"(set policy default_policy load_formula="load_avg", node_sort_key="load_formula LOW")",
        R"(set policy default_policy load_thresholds="load_avg >= 2")",
    }));
    const std::string first = submit();
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    EXPECT_THAT(server.job(first, "exec_vnode"), HasSubstr("n2"));

    ASSERT_TRUE(server.configure({"set node n2 resources_available.load_avg=2.5"}));
    const std::string second = submit();
    EXPECT_TRUE(waits_for_load(second, "Not Running: Load of n2: load_avg 2.5 >= 2"))
        << server.command({"qstat", "-f", second}).out;
    EXPECT_THAT(server.command({"pbs_explain", second}).out, HasSubstr("n1: load_avg 3"));

    ASSERT_TRUE(server.configure({"set node n1 resources_available.load_avg=1"}));
    ASSERT_TRUE(server.wait_job_state(second, "R"));
    EXPECT_THAT(server.job(second, "exec_vnode"), HasSubstr("n1"));
}

TEST_F(Loads, CountJobsThatHaveJustStarted) {
    ASSERT_TRUE(server.configure({
        R"(set policy default_policy job_load_adjustments="load_avg=2", load_thresholds="work:load_avg >= 4")",
        "set node n2 state=offline",
    }));
    const std::string first = submit();
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    const std::string second = submit();
    EXPECT_TRUE(waits_for_load(second, "Not Running: Load of n1: load_avg "))
        << server.command({"qstat", "-f", second}).out;
    EXPECT_THAT(server.command({"pbs_explain", second}).out,
                HasSubstr("load_avg 3, with jobs that have just started "));
    ASSERT_EQ(server.command({"qdel", first}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(second, "R"));
}

TEST_F(Loads, AreNamedCorrectly) {
    const auto refused = [&](const std::string& value) {
        return server.command({"qmgr", "-c", "set policy default_policy " + value}).err;
    };
    EXPECT_THAT(refused("load_formula=\"load_avg + nothing\""),
                HasSubstr("at position 12: unknown name 'nothing'"));
    EXPECT_THAT(refused("load_thresholds=\"load_avg = 2\""),
                HasSubstr("there is none of >=, >, <= and < before the number"));
    EXPECT_THAT(refused("load_thresholds=\"nowhere:load_avg >= 2\""),
                HasSubstr("there is no queue 'nowhere'"));
    EXPECT_THAT(refused("job_load_adjustments=\"load=1\""),
                HasSubstr("'load' is not a resource of this server nor load_avg, np_load_avg"));
    ASSERT_TRUE(server.configure({
        R"(set policy default_policy load_thresholds="np_load_avg >= 2")",
        "unset node n1 resources_available.load_avg",
        "unset node n2 resources_available.load_avg",
    }));
    const Output deleted = server.command({"qmgr", "-c", "delete resource load_avg"});
    if (on_openpbs())
        EXPECT_THAT(deleted.err, HasSubstr("default_policy"));
    else
        EXPECT_EQ(deleted.exit, 0) << deleted.err;  // the built-in one is there again
}

}  // namespace
}  // namespace pbs::e2e
