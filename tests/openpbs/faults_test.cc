// Tests faults in the policy service while the server runs: the server goes on and reports the fault, and
// everything works again when the fault is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsFaults : public AttachedSite {
  protected:
    void SetUp() override {
        if (!make_site()) return;
        site->install(options());
        site->preload_faults();
        site->start_with_plugin();
        server_ = site->ok("cat /var/spool/pbs/server_priv/server.lock");
    }
    void TearDown() override {
        if (site) {
            EXPECT_EQ(site->ok("cat /var/spool/pbs/server_priv/server.lock"), server_);
        }
    }
    void accept(const std::string& directive) const {
        const Output output = site->qmgr(directive);
        EXPECT_EQ(output.exit, 0) << directive << ": " << output;
    }
    bool comes(const std::string& directive) const {
        return wait_for([&] { return site->qmgr(directive).exit == 0; }, std::chrono::seconds(40));
    }
    // Checks that the server handles requests of each kind, and that pbs_sched starts jobs.
    void server_goes_on() const {
        EXPECT_TRUE(site->wait_for_node());
        const std::string job = site->ok(
            "cd /; rm -f /tmp/una.ran; echo 'touch /tmp/una.ran' | $stock/qsub -o /dev/null -e /dev/null",
            "una");
        EXPECT_TRUE(
            wait_for([&] { return site->sh("test -e /tmp/una.ran").exit == 0; }, std::chrono::seconds(40)))
            << site->sh("$stock/qstat -f " + job).out;
        EXPECT_EQ(site->stock_qmgr("set queue workq Priority = 3").exit, 0);
        EXPECT_EQ(site->stock_qmgr("create queue fresh queue_type = execution").exit, 0);
        EXPECT_EQ(site->stock_qmgr("delete queue fresh").exit, 0);
        site->ok("$stock/qstat -Bf; $stock/qstat -Qf; $stock/pbsnodes -a", "una");
    }

    std::string server_;
};

TEST_P(OpenpbsFaults, ADiskThatHangsStallsNobodyButWhoAsksUs) {
    accept("create policy p1");
    site->begin_fault("stall");
    site->ok(
        "($ours/qmgr -c 'create policy p2' > /tmp/alice.out 2>&1; echo exit $? >> /tmp/alice.out) > "
        "/dev/null 2>&1 "
        "< /dev/null &",
        "alice");
    server_goes_on();
    EXPECT_EQ(site->ok("cat /tmp/alice.out"), "");
    // After its time limit the client gets an error, which says that the request may still be carried out.
    site->begin_fault("later", 40);
    EXPECT_TRUE(wait_for([&] { return site->sh("grep -q '^exit' /tmp/alice.out").exit == 0; }));
    EXPECT_THAT(site->ok("cat /tmp/alice.out"),
                HasSubstr("didn't answer in 30 seconds; whether the request has been "
                          "carried out isn't known"));
    // `list sched` and the log say for how long the service has been silent.
    site->begin_fault("later", 200);
    EXPECT_TRUE(wait_for([&] {
        return site->stock_qmgr("list sched").out.find("policy_service = it hasn't said anything for") !=
               std::string::npos;
    }));
    EXPECT_TRUE(site->wait_for_log("the policy service hasn't said anything for"));
    server_goes_on();
    site->end_fault("stall");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("list policy p2").exit == 0; }, std::chrono::seconds(40)));
    EXPECT_TRUE(wait_for(
        [&] { return site->stock_qmgr("list sched").out.find("policy_service") == std::string::npos; }));
    accept("create policy p3");
    EXPECT_EQ(site->qmgr("list policy p1").exit, 0);
}

TEST_P(OpenpbsFaults, AnExceptionEndsTheServiceAndItIsStartedAgain) {
    accept("set queue workq Priority = 1");
    site->begin_fault("throw");
    EXPECT_THAT(site->qmgr("create policy p1").err, HasSubstr("doesn't answer: it has ended"));
    EXPECT_TRUE(wait_for([&] {
        return site->ok(
                       "cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log 2>/dev/null "
                       "|| true")
                   .find("the policy service has failed: a fault of the tests") != std::string::npos;
    }));
    server_goes_on();
    site->end_fault("throw");
    EXPECT_TRUE(comes("create policy p1"));
    EXPECT_THAT(site->stock_qmgr("list sched").out, Not(HasSubstr("policy_service")));
}

// If OpenPBS's database fails, its server ends. The plugin has a database of its own, and loses nothing.
TEST_P(OpenpbsFaults, TheDatabaseOfOpenpbsIsAway) {
    accept("create policy p1");
    site->ok("pkill -9 postgres");
    site->ok("timeout 30 $stock/qsub -- /bin/true || true", "una");
    EXPECT_TRUE(
        wait_for([&] { return site->sh("pgrep -x pbs_server.bin").exit != 0; }, std::chrono::seconds(60)));
    site->start_with_plugin();
    server_ = site->ok("cat /var/spool/pbs/server_priv/server.lock");
    EXPECT_THAT(site->ok("$ours/qmgr -c 'list policy @default'"), HasSubstr("Policy p1\n"));
    server_goes_on();
    accept("create policy p2");
}

// The disk becomes full at each write of a change in turn. The change is then refused and leaves nothing. It
// succeeds when there is room again.
TEST_P(OpenpbsFaults, ADiskThatIsFullAtEachStep) {
    accept("create time_window t0");
    accept("set time_window t0 rrule='FREQ=DAILY', start_time=0800, end_time=1700");
    int step = 0;
    for (bool through = false; !through; ++step) {
        ASSERT_LT(step, 100);
        const std::string name = "p" + std::to_string(step);
        site->begin_fault("full", step);
        const Output output = site->qmgr("create policy " + name);
        through = output.exit == 0;
        site->end_fault("full");
        EXPECT_EQ(site->qmgr("list policy " + name).exit == 0, through) << step << ": " << output;
        if (!through) {
            EXPECT_TRUE(comes("create policy " + name)) << step;
        }
        EXPECT_EQ(site->qmgr("list policy " + name).exit, 0) << step;
    }
    EXPECT_GT(step, 2);
    const std::string before = site->ok("$ours/pbs_config history", "alice");
    site->kill_server();
    site->start_with_plugin();
    server_ = site->ok("cat /var/spool/pbs/server_priv/server.lock");
    EXPECT_EQ(site->ok("$ours/pbs_config history", "alice"), before);
    server_goes_on();
}

// The plugin renews the files of pbs_sched as time goes on, and makes pbs_sched read them.
TEST_P(OpenpbsFaults, TheFilesOfPbsSchedFollowTheClock) {
    accept("create time_window day");
    accept("set time_window day type=prime, rrule='FREQ=DAILY', start_time=0000, end_time=1200");
    accept("create time_window second");
    accept("set time_window second type=prime, rrule='FREQ=DAILY', start_time=1300, end_time=2300");
    accept("set policy default_policy algorithm = external");
    const auto holidays = [&] { return site->ok("cat /var/spool/pbs/sched_priv/holidays"); };
    const auto reads = [&] { return site->logged("sched", "Scheduler is reconfiguring"); };
    // The file can have one period for a day. Today's line has the period that is open or opens next.
    EXPECT_TRUE(wait_for([&] { return holidays().find("\t0000\t1200") != std::string::npos; })) << holidays();
    const auto shift = [&](int hour) {  // sets the clocks to this hour of the next day
        const int now = number_of(site->ok("date +%-H")) * 3600 + number_of(site->ok("date +%-M")) * 60;
        site->begin_fault("later", 86400 + hour * 3600 - now);
    };
    const auto today = [&](int hour, const std::string& hours) {
        const std::string line =
            site->ok("date -d '+1 day' +%A | tr A-Z a-z | tr -d '\\n'") + "\t" + hours + "\n";
        shift(hour);
        EXPECT_TRUE(
            wait_for([&] { return holidays().find(line) != std::string::npos; }, std::chrono::seconds(30)))
            << line << holidays();
    };
    const int before = reads();
    today(10, "0000\t1200");
    EXPECT_TRUE(wait_for([&] { return reads() > before; }));
    const int between = reads();
    today(15, "1300\t2300");
    EXPECT_TRUE(wait_for([&] { return reads() > between; }));
    EXPECT_EQ(attribute_in(site->ok("$ours/qmgr -c 'list sched default'"), "prime_time"), "True");
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsFaults, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
