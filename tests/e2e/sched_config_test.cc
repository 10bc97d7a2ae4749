// Tests that after `unset sched default policy` the file sched_config has the scheduler's settings, as in
// OpenPBS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

class SchedConfig : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue workq queue_type=execution, enabled=True, started=True",
            "set server default_queue=workq, job_history_enable=True",
            "create node n1 resources_available.ncpus=4, resources_available.mem=8gb",
        }));
    }
    // Submits jobs of 2, 4 and 3 CPUs while scheduling is off. Returns the number of CPUs of the job that
    // starts first.
    std::string first_of_three() {
        EXPECT_TRUE(server.configure({"set server scheduling = False"}));
        std::map<std::string, std::string> jobs;
        for (const char* ncpus : {"2", "4", "3"})
            jobs[ncpus] = server.submit("sleep 60\n", {"-l", std::string("ncpus=") + ncpus});
        EXPECT_TRUE(server.configure({"set server scheduling = True"}));
        std::string first;
        EXPECT_TRUE(wait_for([&] {
            for (const auto& [ncpus, id] : jobs)
                if (server.job(id, "job_state") == "R") first = ncpus;
            return !first.empty();
        }));
        for (const auto& [ncpus, id] : jobs) server.command({"qdel", id});
        for (const auto& [ncpus, id] : jobs) EXPECT_TRUE(server.wait_job_state(id, "F"));
        return first;
    }
    std::string shown(const std::string& attribute) { return server.attribute("sched default", attribute); }

    Server server;
};

TEST_F(SchedConfig, IsInForceWithoutAPolicyAndFollowsItsFile) {
    server.put("sched_priv/sched_config", "job_sort_key: \"ncpus HIGH\"\n");
    EXPECT_EQ(first_of_three(), "2") << "default_policy is assigned: the file is ignored";
    ASSERT_TRUE(server.configure({"unset sched default policy"}));
    EXPECT_EQ(first_of_three(), "4");
    EXPECT_EQ(shown("active_policy"), "sched_config");
    EXPECT_EQ(shown("policy"), "(none)");

    server.put("sched_priv/sched_config", "job_sort_key: \"ncpus LOW\"\nmom_resources: \"foo\"\n");
    EXPECT_EQ(first_of_three(), "2");
    EXPECT_THAT(server.log(), HasSubstr("mom_resources: is removed"));

    server.put("sched_priv/sched_config", "job_sort_key: \"ncpus UP\"\n");
    EXPECT_EQ(first_of_three(), "2") << "without the line, and any order, the first one";
    EXPECT_THAT(shown("configuration_error"),
                AllOf(HasSubstr("sched_config:1:16: job_sort_key: 'ncpus UP' is not"),
                      HasSubstr("; the line is left out")));
    EXPECT_THAT(server.log(), HasSubstr("sched_config:1:16: job_sort_key: 'ncpus UP' is not"));

    ASSERT_TRUE(server.configure({"set policy default_policy job_sort_key = 'ncpus HIGH'",
                                  "set sched default policy = default_policy"}));
    EXPECT_EQ(first_of_three(), "4");
    EXPECT_EQ(shown("active_policy"), "default_policy");
    EXPECT_EQ(shown("configuration_error"), "(none)");
}

TEST_F(SchedConfig, SurvivesARestart) {
    server.put("sched_priv/sched_config", "job_sort_key: \"ncpus HIGH\"\n");
    ASSERT_TRUE(server.configure({"unset sched default policy"}));
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(first_of_three(), "4");
    EXPECT_EQ(shown("policy"), "(none)");
}

TEST_F(SchedConfig, TheServersBackfillDepthAndFormulaCount) {
    NEEDS(own_attributes);
    server.put("sched_priv/sched_config", "by_queue: False\n");
    ASSERT_TRUE(server.configure({"unset sched default policy"}));
    EXPECT_EQ(server.qmgr("set server job_sort_formula = ncpus").exit, 0);
    EXPECT_EQ(first_of_three(), "4");
    ASSERT_TRUE(server.configure({"set sched default policy = default_policy"}));
    EXPECT_EQ(first_of_three(), "2") << "with a policy they don't";
}

}  // namespace
}  // namespace pbs::e2e
