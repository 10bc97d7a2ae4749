// A cluster for tests: an OpenPBS server and moms on three other hosts (hosts.sh), with the plugin in the
// server, beside it, or with pbs_sched alone, so that all three give the same answers.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/scheduled_site.h"

namespace pbs::e2e {

// The test's parameter for a server without the plugin.
inline constexpr const char* kPbsSched = "pbs_sched";
inline const auto kSchedulers = ::testing::Values("", "--beside", kPbsSched);
std::string scheduler_name(const ::testing::TestParamInfo<const char*>& one);

// Vnodes h1, h2 and h3 of two CPUs each.
class ClusterSite : public ScheduledSite {
  protected:
    void SetUp() override;

    // Runs hosts.sh.
    std::string hosts(const std::string& arguments) const;
    // Runs a script on a host as the user.
    Output on(const std::string& host, const std::string& script, const std::string& user = "una") const;
    // Submits a script of a job.
    std::string submit_script(const std::string& script, const std::string& options) const;
    // "R" and the hosts where the job runs; or else its state and comment: "Q Not Running: ...".
    std::string outcome(const std::string& job) const;
    // Waits until outcome() is as expected.
    void expect_outcome(const std::string& job, const std::string& outcome,
                        std::chrono::seconds longest = kLong) const;
    // Waits until the vnode is in this state ("down" is part of "state-unknown,down").
    void expect_vnode(const std::string& vnode, const std::string& state,
                      std::chrono::seconds longest = kLong) const;
    // Asks for a cycle: OpenPBS doesn't tell its scheduler when a vnode comes back.
    void cycle() const;
};

}  // namespace pbs::e2e
