// A cluster for tests: an OpenPBS server, and moms on three other hosts (hosts.sh). The plugin runs in the
// server, or beside it, or pbs_sched runs without the plugin. A test expects the same in all three cases.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/scheduled_site.h"

namespace pbs::e2e {

// The test's parameter for a server without the plugin.
inline constexpr const char* kPbsSched = "pbs_sched";
inline const auto kSchedulers = ::testing::Values("", "--beside", kPbsSched);
std::string scheduler_name(const ::testing::TestParamInfo<const char*>& one);

// A cluster with vnodes h1, h2 and h3, of two CPUs each.
class ClusterSite : public ScheduledSite {
  protected:
    void SetUp() override;

    // Runs hosts.sh with these arguments. Returns its output.
    std::string hosts(const std::string& arguments) const;
    // Runs a script on a host, as this user.
    Output on(const std::string& host, const std::string& script, const std::string& user = "una") const;
    // Submits a job with this script. Returns its id.
    std::string submit_script(const std::string& script, const std::string& options) const;
    // For a running job returns "R" and the vnodes on which it runs, for any other job its state and comment:
    // "Q Not Running: ...".
    std::string outcome(const std::string& job) const;
    // Waits until outcome() is as expected.
    void expect_outcome(const std::string& job, const std::string& outcome,
                        std::chrono::seconds longest = kLong) const;
    // Waits until the vnode is in this state. Its state may consist of several words: "down" matches
    // "state-unknown,down".
    void expect_vnode(const std::string& vnode, const std::string& state,
                      std::chrono::seconds longest = kLong) const;
    // Makes the scheduler begin a cycle, because OpenPBS doesn't tell it that a vnode has come back.
    void cycle() const;
    // Asks for cycles until outcome() is as expected: pbs_sched may take a host for down in the first ones
    // after it is back.
    void expect_outcome_of_cycles(const std::string& job, const std::string& outcome) const;
};

}  // namespace pbs::e2e
