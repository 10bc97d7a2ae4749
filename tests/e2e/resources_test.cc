// Tests resources of three kinds: values that a program prints, resources that the policy ignores, and
// resources by whose values vnodes form placement sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

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

// Resources by which jobs tell policies what they want: a server of OpenPBS needs them created.
class ResourcesForPolicies : public OfOwnServer<> {
  protected:
    void SetUp() override {
        OfOwnServer<>::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "set server default_queue=work",
            "create node n1 resources_available.ncpus=4",
        }));
    }
    std::string definition(const std::string& name) const {
        return server.attribute("resource " + name, "type") + " " +
               server.attribute("resource " + name, "flag");
    }
    Server server;
};

TEST_F(ResourcesForPolicies, AreThere) {
    std::istringstream lines(server.command({"pbs_policy_install", "--openpbs", "--resources"}).out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const std::string name = line.substr(16, line.find(' ', 16) - 16);
        const std::size_t type = line.find("type = ") + 7;
        const std::size_t flag = line.find("flag = ");
        EXPECT_EQ(definition(name), line.substr(type, line.find(',') - type) + " " +
                                        (flag == std::string::npos ? "(none)" : line.substr(flag + 7)));
    }
    EXPECT_EQ(count, 9);
    EXPECT_THAT(server.qmgr("print server").out, testing::Not(HasSubstr("create resource")));
    EXPECT_THAT(server.command({"pbs_config", "export"}).out, testing::Not(HasSubstr("deadline\": {")));
    const std::string range = server.submit("sleep 60\n", {"-l", "select=1-9:ncpus=1"});
    ASSERT_TRUE(server.wait_job_state(range, "R"));
    EXPECT_EQ(server.job(range, "Resource_List.select"), "4:ncpus=1");
    const Output bad = server.qmgr("delete resource deadline");
    EXPECT_THAT(bad.err, HasSubstr("Resource deadline is built in"));
}

TEST_F(ResourcesForPolicies, MayBeDefinedByManagers) {
    // The lines for OpenPBS do no harm here.
    ASSERT_TRUE(server.configure({"create resource deadline type = string"}));
    EXPECT_THAT(server.qmgr("create resource Deadline type=long").err, HasSubstr("Duplicate entry"));
    EXPECT_THAT(server.qmgr("print server").out, HasSubstr("set resource deadline type = string"));
    const std::string job = server.submit("sleep 60\n", {"-l", "deadline=2330"});
    EXPECT_THAT(server.qmgr("set resource deadline type=long").err,
                HasSubstr("Resource busy: job " + job + " uses deadline"));
    // The built-in definition, which is the same, comes back.
    ASSERT_TRUE(server.configure({"delete resource deadline"}));
    EXPECT_EQ(definition("deadline"), "string (none)");
    EXPECT_THAT(server.qmgr("create resource deadline type=long").err,
                HasSubstr("Resource busy: job " + job + " uses deadline"));
    const std::string other = "policies know it with type long, flag r";
    EXPECT_THAT(server.qmgr("create resource Override_Tickets type=size").err, HasSubstr(other));
    EXPECT_EQ(server.qmgr("set resource job_shares flag=r").err, "") << "as the manual recommends";
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(definition("override_tickets"), "size (none)");
    EXPECT_EQ(definition("job_shares"), "long r");
    EXPECT_THAT(server.log(), testing::Not(HasSubstr("resource job_shares has")));
    EXPECT_THAT(server.log(), HasSubstr("resource override_tickets has type size, no flag: " + other));
    EXPECT_EQ(server.job(job, "Resource_List.deadline"), "2330");
    ASSERT_TRUE(server.configure({"delete resource override_tickets"}));
    EXPECT_EQ(definition("override_tickets"), "long r");
}

// A policy may name the resource meanwhile, as it is there afterwards, too.
TEST_F(ResourcesForPolicies, AreBackAfterADeleteEvenIfNamed) {
    const std::string without = server.command({"pbs_config", "export"}).out;
    const std::string named = "set policy default_policy job_sort_key = \"job_shares HIGH\"";
    ASSERT_TRUE(server.configure({"create resource job_shares type=long", named}));
    ASSERT_TRUE(server.configure({"delete resource job_shares"}));
    EXPECT_EQ(definition("job_shares"), "long (none)");
    EXPECT_EQ(server.attribute("policy default_policy", "job_sort_key"), "job_shares HIGH");
    const std::string then = server.command({"pbs_config", "export"}).out;
    ASSERT_TRUE(server.configure({"set resource job_shares flag=r"}));
    server.put("then", then);
    const Output imported =
        server.command({"pbs_config", "import", "--replace", (server.home() / "then").string()});
    EXPECT_EQ(imported.exit, 0) << imported;
    EXPECT_EQ(definition("job_shares"), "long (none)");
    EXPECT_EQ(server.command({"pbs_config", "export"}).out, then);
    EXPECT_NE(then, without);
}

TEST_F(ResourcesForPolicies, OfAnOlderRevisionComeBack) {
    ASSERT_TRUE(
        server.configure({"create resource deadline type=long", "set queue work resources_max.deadline=5"}));
    const std::string then = server.command({"pbs_config", "export"}).out;
    EXPECT_THAT(then, HasSubstr("\"deadline\": {\"type\": \"long\"}"));
    ASSERT_TRUE(server.configure({"unset queue work resources_max.deadline", "delete resource deadline",
                                  "set queue work resources_max.deadline=2330"}));
    server.put("then", then);
    const Output imported =
        server.command({"pbs_config", "import", "--replace", (server.home() / "then").string()});
    EXPECT_EQ(imported.exit, 0) << imported;
    EXPECT_EQ(definition("deadline"), "long (none)");
    EXPECT_EQ(server.attribute("queue work", "resources_max.deadline"), "5");
    EXPECT_EQ(server.command({"pbs_config", "export"}).out, then);
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    EXPECT_EQ(definition("deadline"), "long (none)");
}

}  // namespace
}  // namespace pbs::e2e
