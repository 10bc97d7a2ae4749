// Tests the files of SCHED_ACCT_DIR, through the plugin's C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class AllocationFiles : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(host.home() / "sched_priv" / "acct");
        host.write("sched_priv/acct/allocations",
                   "P= Systems Support Staff = staff = -1.0\n"
                   "P= Numerical Analysis Research Group = g10003 = 1500.0\n");
        host.write("sched_priv/acct/current", "smithj g10003 15 203.587\ngilbert g10003 1 31.192\n");
        host.bring_up();
        host.queue(kSubmit, "submit");
        host.queue(kBatch, "batch");
        policy({{"algorithm", "origin"},
                {"submit_queue", "submit"},
                {"batch_queues", "batch"},
                {"avoid_fragmentation", "False"},
                {"enforce_allocation", "11/01/1998"},
                {"sched_acct_dir", "acct"}});
        host.vnode(kVnode, "n1", 8);
    }
    void policy(const std::vector<Change>& changes) {
        const Answer done = host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", changes);
        ASSERT_EQ(done.code, 0) << done.text;
    }
    // Returns the decision about a small job of this group.
    Decision decided(const std::string& group) {
        ++job_;
        host.job({.handle = job_, .queue = kSubmit, .group = group, .walltime = 60});
        for (const Decision& decision : host.cycle())
            if (decision.job == job_) {
                host.job_removed(job_);
                return decision;
            }
        return {};
    }

    FakeHost host;
    uint64_t job_ = 0;
};

TEST_F(AllocationFiles, SCHED_ACCT_DIR_BothFilesAreReadAgainWhenTheyAreTouched) {
    EXPECT_EQ(decided("staff").kind, PBS_DECIDE_RUN);
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    host.write("sched_priv/acct/current", "smithj g10003 15 1400.0\ngilbert g10003 1 130.5\n");
    const Decision over = decided("g10003");
    EXPECT_EQ(over.kind, PBS_DECIDE_REJECT);
    EXPECT_EQ(
        over.text,
        "Job rejected: group g10003 has used 1530.500 node-hours of its allocation of 1500.000 node-hours");
    host.write("sched_priv/acct/allocations",
               "P= Numerical Analysis = g10003 = 2000.0\nP= Old = g901 = 0.0\n");
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    EXPECT_EQ(decided("g901").kind, PBS_DECIDE_REJECT);
    EXPECT_EQ(decided("staff").kind, PBS_DECIDE_COMMENT) << "it is in the file no more";
}

TEST_F(AllocationFiles, SCHED_ACCT_DIR_WhatWasReadBeforeHoldsWhileAFileIsWrong) {
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    host.write("sched_priv/acct/current", "smithj g10003 15 many\n");
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    EXPECT_TRUE(host.logged("acct/current:1:"));
    EXPECT_TRUE(host.logged("what was read before stays in force"));
    const auto lines = host.log.size();
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    EXPECT_EQ(host.log.size(), lines) << "told once";
    fs::remove(host.home() / "sched_priv/acct/current");
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_RUN);
    EXPECT_TRUE(host.logged("No such file"));
    host.write("sched_priv/acct/current", "smithj g10003 15 5000\n");
    EXPECT_EQ(decided("g10003").kind, PBS_DECIDE_REJECT);
    EXPECT_TRUE(host.logged("current is read again"));
}

TEST_F(AllocationFiles, SCHED_ACCT_DIR_NoLinksAreFollowed) {
    fs::remove(host.home() / "sched_priv/acct/current");
    fs::create_symlink("/etc/passwd", host.home() / "sched_priv/acct/current");
    EXPECT_THAT(decided("g10003").text, HasSubstr("can't be read"));
    EXPECT_FALSE(host.logged("root"));
    fs::remove(host.home() / "sched_priv/acct/current");
    host.write("server_priv/secret", "geheim\n");
    fs::create_hard_link(host.home() / "server_priv/secret", host.home() / "sched_priv/acct/current");
    decided("g10003");
    EXPECT_TRUE(host.logged("has another name (a hard link)"));
    EXPECT_FALSE(host.logged("geheim"));
}

// The log quotes a mistake only from a file that everybody may read.
TEST_F(AllocationFiles, SCHED_ACCT_DIR_ElsewhereOnlyFilesThatEverybodyMayRead) {
    const FakeHost other;  // its folder isn't the home of `host`
    const fs::path acct = other.home() / "acct";
    fs::create_directories(acct);
    std::ofstream(acct / "allocations") << "geheim\n";
    std::ofstream(acct / "current") << "geheim\n";
    policy({{"sched_acct_dir", acct.string()}});
    fs::permissions(acct / "current", fs::perms(0600));
    for (const fs::perms mode : {fs::perms(0700), fs::perms(0755)}) {
        fs::permissions(other.home(), mode);
        decided("g10003");
        EXPECT_TRUE(host.logged((acct / "current").string() + ": is not below PBS_HOME, expected a file that "
                                                              "everybody may read"));
        EXPECT_FALSE(host.logged("current:1"));
        EXPECT_EQ(host.logged("allocations:1"), mode == fs::perms(0755)) << "it is open to all";
        // Change the file, so that the plugin reads it again.
        std::ofstream(acct / "allocations") << "geheim \n";
    }
}

}  // namespace
}  // namespace pbs::plugin_test
