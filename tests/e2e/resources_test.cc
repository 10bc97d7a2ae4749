// Tests resources of three kinds: values that a program prints, resources that the policy ignores, and
// resources by whose values vnodes form placement sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;

class ResourcesOfSites : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "set server default_queue=work, job_history_enable=True",
            "create resource licences type=long",
            "create resource color type=string, flag=h",
            "create node n1 resources_available.ncpus=1, resources_available.color=red",
            "create node n2 resources_available.ncpus=1, resources_available.color=blue",
            "create node n3 resources_available.ncpus=1, resources_available.color=blue",
        }));
    }
    std::string job(const std::string& resources) const {
        return server.submit("exec sleep 60\n", {"-l", resources});
    }

    Server server;
};

TEST_F(ResourcesOfSites, AProgramTellsHowMuchThereIs) {
    const Output bad =
        server.qmgr("set policy default_policy server_dyn_res='licences !/bin/sh -c \"echo 5\"'");
    EXPECT_NE(bad.exit, 0);
    EXPECT_THAT(bad.err, HasSubstr("/bin/sh"));
    // nproc prints the number of processors, which is at least 1.
    ASSERT_TRUE(server.configure({"set policy default_policy server_dyn_res='licences !/usr/bin/nproc'"}));
    const std::string one = job("ncpus=1,licences=1");
    const std::string many = job("ncpus=1,licences=1000000");
    EXPECT_TRUE(server.wait_job_state(one, "R"));
    EXPECT_TRUE(wait_for([&] { return server.job(many, "comment") != "(none)"; }));
    EXPECT_THAT(server.job(many, "comment"),
                HasSubstr("Run: Insufficient amount of server resource: licences (R: 1000000 A: "));
    ASSERT_TRUE(server.configure({"set policy default_policy exclude_resources=licences"}));
    EXPECT_TRUE(server.wait_job_state(many, "R"));
}

TEST_F(ResourcesOfSites, WhatIsLeftAsideIsNotLookedAt) {
    const std::string green = job("select=1:ncpus=1:color=green");
    EXPECT_TRUE(wait_for([&] { return server.job(green, "comment") != "(none)"; }));
    EXPECT_THAT(server.job(green, "comment"), HasSubstr("Insufficient amount of resource: color (green"));
    ASSERT_TRUE(server.configure({"set policy default_policy exclude_resources=color"}));
    EXPECT_TRUE(server.wait_job_state(green, "R"));
}

TEST_F(ResourcesOfSites, JobsGoToOnePlacementSet) {
    ASSERT_TRUE(server.configure({"set server node_group_enable=True, node_group_key=color"}));
    const std::string two = job("select=2:ncpus=1");
    ASSERT_TRUE(server.wait_job_state(two, "R"));
    EXPECT_EQ(server.job(two, "exec_vnode"), "(n2:ncpus=1)+(n3:ncpus=1)");
}

}  // namespace
}  // namespace pbs::e2e
