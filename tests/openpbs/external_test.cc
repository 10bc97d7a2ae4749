// Tests algorithm = external: pbs_sched goes on scheduling, by files that the plugin makes from the policies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
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
    int reconfigured() const { return site->logged("sched", "Scheduler is reconfiguring"); }
    // Submits two jobs, and turns scheduling on. Returns the jobs' names in the order of their starts.
    std::string order_of_start() const {
        accept("set server scheduling = False");
        // A cycle that has begun would start the first job alone.
        EXPECT_TRUE(
            wait_for([&] { return site->sh("$stock/qstat -Bf | grep -q 'server_state = Idle'").exit == 0; }));
        site->ok(
            "cd /; rm -f /tmp/una.order; for n in low high; do p=-10; [ $n = low ] || p=10; "
            "echo \"echo $n >> /tmp/una.order; sleep 1\" | $stock/qsub -N $n -p $p -o /dev/null -e /dev/null "
            "-l select=1:ncpus=1; done",
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
    // At its first start the plugin has made a policy from the files, and has left the files as they were.
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"), HasSubstr("by_queue"));
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"),
                Not(ContainsRegex("policy [a-z_0-9]+: [^\n]* has no effect")));
    const int reads = reconfigured();
    accept("set policy default_policy job_sort_key = 'job_priority HIGH', algorithm = external");
    EXPECT_TRUE(comes("sched_config", "job_sort_key: \"job_priority HIGH\""));
    EXPECT_TRUE(wait_for([&] { return reconfigured() > reads; }));
    EXPECT_EQ(order_of_start(), "high low ");
    accept("set policy default_policy job_sort_key = 'job_priority LOW'");
    EXPECT_TRUE(comes("sched_config", "job_sort_key: \"job_priority LOW\""));
    EXPECT_EQ(order_of_start(), "low high ");
    // The log of pbs_sched has no mistake in the file.
    EXPECT_THAT(site->ok("cat /var/spool/pbs/sched_logs/*"),
                Not(AnyOf(HasSubstr("Error in"), HasSubstr("Unknown"), HasSubstr("Invalid"))));
    // Switching back restores the files.
    accept("set policy default_policy algorithm = standard");
    EXPECT_TRUE(wait_for([&] { return site->ok(files) == before; })) << site->ok(files);
    EXPECT_TRUE(wait_for([&] {
        return site->ok("ls /var/spool/pbs/sched_priv | grep -c before_pbs_policy || true") == "0\n";
    }));
}

TEST_P(OpenpbsExternal, ARemovalWarnsOfTheFilesThatStay) {
    const std::string warning =
        "pbs_sched goes on with the files in /var/spool/pbs/sched_priv that were made from policies "
        "(algorithm = external)";
    const auto remove = [&] {
        const Output output = site->sh("$ours/pbs_policy_install --openpbs --remove");
        EXPECT_EQ(output.exit, 0) << output;
        return output.err;
    };
    accept("set policy default_policy algorithm = external");
    EXPECT_TRUE(comes("sched_config", "# Made from the policies"));
    EXPECT_THAT(remove(), HasSubstr("pbs_policy_install: warning: " + warning));
    // Go back to the earlier files as the warning says.
    site->install(options());
    site->stop();
    site->start_with_plugin();
    accept("set policy default_policy algorithm = standard");
    EXPECT_TRUE(
        wait_for([&] { return file("sched_config").find("# Made from the policies") == std::string::npos; }));
    EXPECT_EQ(remove(), "");
}

// An OpenPBS site that had two schedulers when the plugin was installed.
class OpenpbsFirstStart : public AttachedSite {
  protected:
    void SetUp() override {
        if (!make_site()) return;
        site->start();
        site->ok(
            "for q in ded_a p_a np_a; do $stock/qmgr -c \"create queue $q queue_type=execution\"; done; "
            "$stock/qmgr -c 'set server backfill_depth = 7'; $stock/qmgr -c 'set server job_sort_formula = "
            "ncpus*2'; $stock/qmgr -c 'set sched default preempt_order = \"SR 50 R\", preempt_queue_prio = "
            "140'; "
            "$stock/qmgr -c 'create sched s2 partition = part2'; cd /var/spool/pbs; "
            "mkdir -m 755 priv2 logs2; cp -a sched_priv/sched_config sched_priv/holidays "
            "sched_priv/dedicated_time "
            "sched_priv/resource_group priv2; printf 'fast\\t9\\troot\\t3\\n' >> priv2/resource_group; "
            "sed -i 's/^by_queue.*/by_queue: False prime\\nby_queue: True non_prime/; "
            "s/^backfill:.*/backfill: False "
            "ALL/' priv2/sched_config; $stock/qmgr -c 'set sched s2 sched_priv = /var/spool/pbs/priv2'; "
            "$stock/qmgr -c 'set sched s2 sched_log = /var/spool/pbs/logs2'");
        site->stop();
        site->install(options());
        site->start_with_plugin();
    }
    std::string list(const std::string& object) const {
        return site->ok("$ours/qmgr -c 'list " + object + "'");
    }
};

TEST_P(OpenpbsFirstStart, MigratesTheFilesOfEachSchedulerAndTheServersAttributes) {
    const std::string report = site->ok("cat /var/spool/pbs/server_priv/migration_report");
    EXPECT_THAT(
        report,
        AllOf(HasSubstr("priv2/sched_config"), HasSubstr("policy s2_policy_prime by_queue = False"),
              HasSubstr("sched s2 policy = s2_policy"), HasSubstr("primetime_prefix: stays in the file")));
    EXPECT_THAT(report, Not(HasSubstr("directive")));
    // pbs_sched finds the queues of prime time by their names. For the plugin's scheduler they get an
    // execution_type.
    EXPECT_EQ(attribute_in(list("queue p_a"), "execution_type"), "execution_prime");
    EXPECT_EQ(attribute_in(list("queue np_a"), "execution_type"), "execution_non_prime");
    EXPECT_EQ(attribute_in(list("sched default"), "policy"), "default_policy");
    EXPECT_EQ(attribute_in(list("sched s2"), "policy"), "s2_policy,p:s2_policy_prime,np:s2_policy_non_prime");
    const std::string first = list("policy default_policy");
    EXPECT_EQ(attribute_in(first, "backfill_depth"), "7");
    EXPECT_EQ(attribute_in(first, "job_sort_formula"), "ncpus*2");
    EXPECT_EQ(attribute_in(first, "preempt_order"), "SR 50 R");
    EXPECT_EQ(attribute_in(first, "preempt_queue_prio"), "140");
    EXPECT_EQ(attribute_in(first, "dedicated_queues"), "ded_a");
    const std::string second = list("policy s2_policy_non_prime");
    EXPECT_EQ(attribute_in(second, "by_queue"), "True");
    EXPECT_EQ(attribute_in(second, "job_sort_formula"), "ncpus*2");
    EXPECT_EQ(attribute_in(second, "fairshare_group"), "s2_fs_group");
    EXPECT_THAT(list("fs_group s2_fs_group"), HasSubstr("fast"));
    EXPECT_THAT(list("fs_group default_fs_group"), Not(HasSubstr("fast")));
    // The second scheduler gets files that are made from its policies; the first one's file doesn't change.
    const std::string mine = site->ok("cat /var/spool/pbs/sched_priv/sched_config");
    for (const char* policy : {"s2_policy", "s2_policy_prime", "s2_policy_non_prime"})
        EXPECT_EQ(site->qmgr(std::string("set policy ") + policy + " algorithm = external").exit, 0);
    EXPECT_TRUE(wait_for([&] {
        return site->ok("cat /var/spool/pbs/priv2/sched_config").find("# Made from the policies") == 0;
    }));
    EXPECT_THAT(site->ok("cat /var/spool/pbs/priv2/sched_config"),
                AllOf(HasSubstr("by_queue: False\tprime"), HasSubstr("\nprimetime_prefix: p_\n")));
    // A change of execution_type changes the prefix, if the queues of that type have one in common.
    EXPECT_EQ(site->qmgr("unset queue p_a execution_type").exit, 0);
    EXPECT_EQ(site->qmgr("set queue ded_a execution_type = execution_non_prime").exit, 0);
    EXPECT_TRUE(wait_for([&] {
        return site->ok("cat /var/spool/pbs/priv2/sched_config").find("\nprimetime_prefix: -none-\n") !=
               std::string::npos;
    }));
    EXPECT_THAT(list("sched s2"), HasSubstr("no prefix selects the queues of this type alone"));
    EXPECT_EQ(site->ok("cat /var/spool/pbs/sched_priv/sched_config"), mine);
    const Output removed = site->sh("$ours/pbs_policy_install --openpbs --remove");
    EXPECT_EQ(removed.exit, 0) << removed;
    EXPECT_THAT(removed.err,
                AllOf(HasSubstr("the files in /var/spool/pbs/priv2 that were made from policies"),
                      Not(HasSubstr("sched_priv"))));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsFirstStart, kAttachments, attachment_name);

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsExternal, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
