// A real OpenPBS server whose jobs the plugin schedules, for tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {

inline constexpr std::chrono::seconds kLong{40};

// A site where the plugin schedules, on a vnode of two CPUs.
class ScheduledSite : public AttachedSite {
  protected:
    void SetUp() override {
        // PolicySite::SetUp() would install the plugin without its scheduler.
        if (!make_site()) return;
        install();
        site->start_with_plugin();
        EXPECT_TRUE(scheduled_by("pbs_policy"));
        EXPECT_TRUE(site->wait_for_node());
        accept("set node box resources_available.ncpus = 2");
    }
    virtual void install() const { site->install(std::string(GetParam()) + " --scheduler"); }
    bool beside() const { return *GetParam() != '\0'; }
    void accept(const std::string& directive) const {
        const Output output = site->qmgr(directive);
        EXPECT_EQ(output.exit, 0) << directive << ": " << output;
    }
    bool scheduled_by(const std::string& what) const {
        return wait_for(
            [&] {
                return attribute_in(site->sh("$stock/qmgr -c 'list sched default'").out, "scheduled_by")
                           .find(what) == 0;
            },
            kLong);
    }
    // Submits a job that runs for `seconds`. Returns its id.
    std::string submit(const std::string& options = {}, int seconds = 1000) const {
        return stripped(site->ok("cd /; echo sleep " + std::to_string(seconds) +
                                     " | $stock/qsub -o /dev/null -e /dev/null " + options,
                                 "una"));
    }
    std::string attribute(const std::string& job, const std::string& name) const {
        return attribute_in(site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out, name);
    }
    bool comes_to(const std::string& job, const std::string& state) const {
        return wait_for([&] { return attribute(job, "job_state") == state; }, kLong);
    }
    bool says(const std::string& job, const std::string& comment) const {
        return wait_for([&] { return attribute(job, "comment").find(comment) != std::string::npos; }, kLong);
    }
    std::string why(const std::string& job) const {
        return site
            ->sh("$stock/qstat -fw '" + job + "'; $ours/qmgr -c 'list sched'; tail -n 40 " +
                 std::string("/var/spool/pbs/server_logs/*; cat /var/spool/pbs/server_priv/policyd.log"))
            .out;
    }
    void expect_state(const std::string& job, const std::string& state) const {
        EXPECT_TRUE(comes_to(job, state)) << job << " isn't " << state << ": " << why(job);
    }
    void expect_comment(const std::string& job, const std::string& comment) const {
        EXPECT_TRUE(says(job, comment)) << job << " has no \"" << comment << "\": " << why(job);
    }
};

}  // namespace pbs::e2e
