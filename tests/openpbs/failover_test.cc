// Tests a failover pair of servers: only the active server has the policy objects, and schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kLongest{100};  // the longest time for taking over

class OpenpbsFailover : public AttachedSite {
  protected:
    void SetUp() override {
        if (!make_site()) return;
        site->install(options() + " --scheduler");
        // Make a second host, which has the same folders, but its own pbs.conf.
        site->ok(
            "echo 10.99.0.2 box2 >> /etc/hosts; printf 'PBS_PRIMARY=box\\nPBS_SECONDARY=box2\\n' >> "
            "/etc/pbs.conf; "
            "unshare -n -u sh -c 'hostname box2; touch /var/spool/pbs/other; exec sleep infinity' < "
            "/dev/null "
            "> /dev/null 2>&1 & echo $! > /var/spool/pbs/other.pid; "
            "while ! test -e /var/spool/pbs/other; do sleep 0.05; done; ip link set v1 netns $(cat "
            "/var/spool/pbs/other.pid); " +
            on_other("ip link set lo up; ip addr add 10.99.0.2/24 dev v1; ip link set v1 up"));
        site->start_with_plugin();
        EXPECT_TRUE(site->wait_for_node());
        EXPECT_EQ(site->qmgr("set node box resources_available.ncpus = 100").exit, 0);
        EXPECT_EQ(site->qmgr("set server flatuid = True").exit, 0);
    }
    std::string submit() const {
        return stripped(
            site->ok("cd /; echo sleep 1000 | $stock/qsub -o /dev/null -e /dev/null -l ncpus=1", "una"));
    }
    bool runs(const std::string& job) const {
        return wait_for(
            [&] {
                return attribute_in(site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out,
                                    "job_state") == "R";
            },
            kLongest);
    }
    // Checks that the active server's plugin starts a new job, and that all earlier jobs go on.
    void expect_scheduling() {
        jobs_.push_back(submit());
        for (const std::string& job : jobs_)
            EXPECT_TRUE(runs(job)) << job << ": "
                                   << site->sh("$stock/qstat -fw; $ours/qmgr -c 'list sched'").out;
        EXPECT_EQ(attribute_in(site->sh("$stock/qmgr -c 'list sched default'").out, "scheduled_by"),
                  "pbs_policy");
        EXPECT_NE(site->sh("pgrep -x pbs_sched").exit, 0)
            << "pbs_sched was started, too: "
            << site->sh("ps -ef; grep -h 'starting sched\\|not started' /var/spool/pbs/server_logs/*").out;
    }
    // Returns a shell command that runs `command` on the host of the secondary.
    static std::string on_other(const std::string& command) {
        return "nsenter -t $(cat /var/spool/pbs/other.pid) -n -u -- sh -c '" + command + "'";
    }
    // Kills the active server and its database.
    void host_fails() const {
        site->kill_server();
        site->ok("kill -9 $(head -n 1 /var/spool/pbs/datastore/postmaster.pid); sleep 1");
    }
    int told(const std::string& text) const {
        return number_of(
            site->ok("cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd*.log 2>/dev/null "
                     "| grep -c '" +
                     text + "' || true"));
    }

  private:
    std::vector<std::string> jobs_;
};

TEST_P(OpenpbsFailover, TheActiveServerAloneHasTheObjectsAndSchedules) {
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    expect_scheduling();
    site->ok(
        on_other(". $(dirname $stock)/lib/init.d/limits.pbs_server; exec $(dirname $stock)/sbin/pbs_server "
                 "-F 2 > /var/spool/pbs/other.log 2>&1"));
    EXPECT_TRUE(site->wait_for_log("as Secondary Server")) << site->log();
    // While the secondary waits, it hasn't loaded the plugin, and the active server keeps the objects.
    EXPECT_EQ(site->qmgr("create policy p2").exit, 0);
    EXPECT_EQ(told("attached, with the policy service"), 1);
    EXPECT_EQ(told("policy objects are available"), 1);
    // The secondary takes over.
    host_fails();
    EXPECT_TRUE(wait_for([&] { return told("policy objects are available") == 2; }, kLongest)) << site->log();
    EXPECT_THAT(site->ok("$ours/qmgr -c 'list policy @default'", "una"),
                AllOf(HasSubstr("Policy p1"), HasSubstr("Policy p2")));
    EXPECT_EQ(site->qmgr("create policy p3").exit, 0);
    expect_scheduling();
    // The primary comes back. The secondary goes idle, executes itself again, and takes over once more.
    site->start();
    EXPECT_TRUE(wait_for([&] { return told("policy objects are available") == 3; }, kLongest)) << site->log();
    EXPECT_EQ(site->qmgr("list policy p3").exit, 0);
    EXPECT_TRUE(site->wait_for_log("as Secondary Server", 2)) << site->log();
    EXPECT_EQ(site->qmgr("create policy p4").exit, 0);
    expect_scheduling();
    EXPECT_EQ(told("attached, with the policy service"), 3);
    host_fails();
    EXPECT_TRUE(wait_for([&] { return told("policy objects are available") == 4; }, kLongest)) << site->log();
    EXPECT_THAT(site->ok("$ours/qmgr -c 'list policy @default'", "una"),
                AllOf(HasSubstr("Policy p3"), HasSubstr("Policy p4")));
    expect_scheduling();
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsFailover, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
