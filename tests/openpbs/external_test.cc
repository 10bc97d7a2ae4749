// pbs_sched goes on scheduling, by files that are made from the policies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsExternal : public AttachedSite {
  protected:
    void accept(const std::string& directive) const {
        const Output output = site->qmgr(directive);
        EXPECT_EQ(output.exit, 0) << directive << ": " << output;
    }
    std::string file(const std::string& name) const {
        return site->ok("cat /var/spool/pbs/sched_priv/" + name);
    }
    bool comes(const std::string& name, const std::string& text) const {
        return wait_for([&] { return file(name).find(text) != std::string::npos; });
    }
    int reconfigured() const {
        return std::atoi(
            site->ok("grep -c 'Scheduler is reconfiguring' /var/spool/pbs/sched_logs/* || true").c_str());
    }
    // The names of two jobs, in the order in which they start when scheduling is turned on.
    std::string order_of_start() const {
        accept("set server scheduling = False");
        site->ok(
            "cd /; for n in low high; do p=-10; [ $n = low ] || p=10; "
            "echo \"echo $n >> /tmp/una.order; sleep 1\" | $stock/qsub -N $n -p $p -o /dev/null -e /dev/null "
            "-l select=1:ncpus=1; done; rm -f /tmp/una.order",
            "una");
        accept("set server scheduling = True");
        EXPECT_TRUE(wait_for([&] { return site->sh("test $(wc -l < /tmp/una.order) = 2").exit == 0; },
                             std::chrono::seconds(30)))
            << site->sh("$stock/qstat -f").out;
        return site->ok("tr '\\n' ' ' < /tmp/una.order");
    }
};

TEST_P(OpenpbsExternal, AManagerWithoutRootChangesWhatPbsSchedDoes) {
    EXPECT_TRUE(site->wait_for_node());
    accept("set node box resources_available.ncpus = 1");
    const std::string files =
        "cd /var/spool/pbs/sched_priv; md5sum sched_config holidays dedicated_time resource_group";
    const std::string before = site->ok(files);
    // The first start has made a policy of the files, and left them alone.
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"), HasSubstr("by_queue"));
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"),
                Not(HasSubstr("is not acted on")));
    const int reads = reconfigured();
    accept("set policy default_policy job_sort_key = 'job_priority HIGH', algorithm = external");
    EXPECT_TRUE(comes("sched_config", "job_sort_key: \"job_priority HIGH\""));
    EXPECT_TRUE(wait_for([&] { return reconfigured() > reads; }));
    EXPECT_EQ(order_of_start(), "high low ");
    accept("set policy default_policy job_sort_key = 'job_priority LOW'");
    EXPECT_TRUE(comes("sched_config", "job_sort_key: \"job_priority LOW\""));
    EXPECT_EQ(order_of_start(), "low high ");
    // What pbs_sched made of it: no line of the file was a mistake to it.
    EXPECT_THAT(site->ok("cat /var/spool/pbs/sched_logs/*"),
                Not(AnyOf(HasSubstr("Error in"), HasSubstr("Unknown"), HasSubstr("Invalid"))));
    // Switching back gives the files back.
    accept("set policy default_policy algorithm = standard");
    EXPECT_TRUE(wait_for([&] { return site->ok(files) == before; })) << site->ok(files);
    EXPECT_TRUE(wait_for([&] {
        return site->ok("ls /var/spool/pbs/sched_priv | grep -c before_pbs_policy || true") == "0\n";
    }));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsExternal, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
