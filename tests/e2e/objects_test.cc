// Types the examples of PP-748 in qmgr as an administrator would, interface by interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

class Objects : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(server.start()); }
    void accept(const std::string& directive) {
        const Output done = server.qmgr(directive);
        EXPECT_EQ(done.exit, 0) << directive << ": " << done;
        EXPECT_EQ(besides_not_acted_on(done.err), "") << directive;
    }
    // Runs a directive that has to be refused, and returns qmgr's message.
    std::string refuse(const std::string& directive) {
        const Output done = server.qmgr(directive);
        EXPECT_NE(done.exit, 0) << directive << " was accepted";
        return done.err;
    }
    std::string policy(const std::string& attribute) { return server.attribute("policy p1", attribute); }

    Server server;
};

TEST_F(Objects, Interface1PolicyByAbbreviations) {
    accept("c policy p1");
    accept("s p p1 by_queue=False, strict_ordering=True");
    EXPECT_EQ(policy("by_queue"), "False");
    EXPECT_EQ(policy("strict_ordering"), "True");
    accept("s sched default policy=p1");
    EXPECT_EQ(server.attribute("sched default", "policy"), "p1");
    EXPECT_EQ(server.attribute("sched default", "active_policy"), "p1");
}

TEST_F(Objects, Interface1EveryExampleOfTheTable) {
    accept("c policy p1");
    accept("c fs_group fs_grp1");
    accept("c resource color type=string");
    for (const char* name : {"workq", "queue1", "queue2"})
        accept(std::string("c queue ") + name + " queue_type=execution");
    const std::pair<const char*, const char*> examples[] = {
        {"s policy p1 round_robin=True", "round_robin"},
        {"s policy p1 by_queue=True", "by_queue"},
        {"s policy p1 strict_ordering=True", "strict_ordering"},
        {"s policy p1 help_starving_jobs=True", "help_starving_jobs"},
        {"s policy p1 max_starve=24:00:00", "max_starve"},
        {"s policy p1 node_sort_key=\"sort_priority HIGH, ncpus HIGH\"", "node_sort_key"},
        {"s policy p1 provision_policy=\"aggressive_provision\"", "provision_policy"},
        {"s policy p1 exclude_resources=\"vmem, color\"", "exclude_resources"},
        {"s policy p1 load_balancing=True", "load_balancing"},
        {"s policy p1 fairshare_group=fs_grp1", "fairshare_group"},
        {"s policy p1 fairshare=True", "fairshare"},
        {"s policy p1 preemption=True", "preemption"},
        {"s policy p1 preempt_queue_prio=190", "preempt_queue_prio"},
        {"s policy p1 preempt_prio=\"starving_jobs, normal_jobs, starving_jobs+fairshare\"", "preempt_prio"},
        {"s policy p1 preempt_order=\"SCR 70 SC 30\"", "preempt_order"},
        {"s policy p1 preempt_sort=\"min_time_since_start\"", "preempt_sort"},
        {"s policy p1 peer_queue=\" workq workq@svr1\"", "peer_queue"},
        {"s policy p1 server_dyn_res=\"mem !/bin/true\"", "server_dyn_res"},
        {"s policy p1 dedicated_queues=\"queue1,queue2\"", "dedicated_queues"},
        {"s policy p1 log_event=255", "log_event"},
        {"s policy p1 job_sort_formula=\"ncpus*walltime\"", "job_sort_formula"},
        {"s policy p1 backfill_depth=1", "backfill_depth"},
        {"s policy p1 job_sort_key=\"ncpus HIGH, mem LOW\"", "job_sort_key"},
        {"s policy p1 time_window_spill=\"01:00:00\"", "time_window_spill"},
        {"s policy p1 prime_exempt_anytime_queues=false", "prime_exempt_anytime_queues"},
        {"s policy p1 backfill_prime=false", "backfill_prime"},
        {"s policy p1 comment=\"afterhours policy\"", "comment"},
    };
    for (const auto& [directive, attribute] : examples) {
        const Output done = server.qmgr(directive);
        EXPECT_EQ(done.exit, 0) << directive << ": " << done;
        EXPECT_NE(policy(attribute), "(none)") << directive;
    }
    EXPECT_EQ(policy("preempt_queue_prio"), "190");
    EXPECT_EQ(policy("dedicated_queues"), "queue1,queue2");
    EXPECT_EQ(policy("comment"), "afterhours policy");
}

TEST_F(Objects, Interface1DefaultsOfTheTable) {
    accept("c policy p1");
    const std::pair<const char*, const char*> defaults[] = {
        {"round_robin", "False"},
        {"by_queue", "True"},
        {"strict_ordering", "False"},
        {"help_starving_jobs", "True"},
        {"max_starve", "24:00:00"},
        {"node_sort_key", "sort_priority HIGH"},
        {"load_balancing", "False"},
        {"fairshare", "False"},
        {"preemption", "True"},
        {"preempt_queue_prio", "150"},
        {"preempt_order", "SCR"},
        {"preempt_sort", "min_time_since_start"},
        {"log_event", "4607"},
        {"backfill_depth", "1"},
        {"prime_exempt_anytime_queues", "False"},
        {"backfill_prime", "False"},
        {"exclude_resources", "(none)"},
        {"fairshare_group", "(none)"},
        {"peer_queue", "(none)"},
        {"job_sort_formula", "(none)"},
        {"provision_policy", "aggressive_provision"},
    };
    for (const auto& [attribute, value] : defaults) EXPECT_EQ(policy(attribute), value) << attribute;
}

TEST_F(Objects, Interface1PrimeAndNonPrimeSlots) {
    for (const char* name : {"p1", "p2"}) accept(std::string("c policy ") + name);
    accept("unset sched default policy");
    EXPECT_THAT(refuse("s sched default policy+='p:p1'"),
                HasSubstr("Cannot set prime/non-prime time policy without setting an all time policy"));
    accept("s sched default policy=default_policy");
    accept("s sched default policy+='p:p1'");
    accept("s sched default policy+='np:p2'");
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy,p:p1,np:p2");
    refuse("s sched default policy='p:p1,p:p2'");
    accept("s sched default policy=p:p1,np:p2");
    EXPECT_EQ(server.attribute("sched default", "policy"), "default_policy,p:p1,np:p2") << "all-time stays";
}

TEST_F(Objects, Interface1DeletingPolicies) {
    accept("c policy p1");
    accept("s sched default policy=p1");
    EXPECT_THAT(refuse("d policy p1"), HasSubstr("default"));
    EXPECT_NE(refuse("d policy default_policy"), "");
    accept("s sched default policy=default_policy");
    accept("d policy p1");
    EXPECT_THAT(refuse("list policy p1"), Not(HasSubstr("by_queue")));
}

TEST_F(Objects, Interface2TimeWindow) {
    accept("c time_window t1");
    accept("s t t1 rrule=\"RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO,TU,WE,TH,FR\"");
    accept("s t t1 start_time=0600");
    accept("s t t1 applies_on_holidays = False");
    accept("s t t1 start_time=06:00:00");
    accept("s t t1 end_time=09:00:00");
    accept("s t t1 type=dedicated");
    accept("s t t1 comment=\"nightly data processing\"");
    EXPECT_EQ(server.attribute("time_window t1", "start_time"), "06:00:00");
    EXPECT_EQ(server.attribute("time_window t1", "type"), "dedicated");
    EXPECT_EQ(server.attribute("time_window t1", "rrule"), "RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO,TU,WE,TH,FR");
    EXPECT_THAT(refuse("s t t1 rrule='FREQ=SOMETIMES'"), HasSubstr("SOMETIMES"));
    EXPECT_THAT(refuse("s t t1 type=weekend"), HasSubstr("standard"));
}

TEST_F(Objects, Interface2WindowsOfAQueue) {
    accept("c queue q1 queue_type=execution");
    for (const char* name : {"t1", "t2", "t3"}) {
        accept(std::string("c time_window ") + name);
        accept(std::string("s t ") + name + " rrule='FREQ=DAILY'");
    }
    accept("s t t1 start_time=0800, end_time=1200");
    accept("s t t2 start_time=1200, end_time=1700");
    accept("s t t3 start_time=1100, end_time=1300");
    accept("s queue q1 time_window='t1,t2'");
    EXPECT_EQ(server.attribute("queue q1", "time_window"), "t1,t2");
    const std::string why = refuse("s queue q1 time_window += t3");
    EXPECT_THAT(why, HasSubstr("t1"));
    EXPECT_THAT(why, HasSubstr("t3"));
    EXPECT_THAT(refuse("d time_window t1"), HasSubstr("q1"));
    accept("d queue q1");
    accept("d time_window t1");
}

TEST_F(Objects, Interface3NonWorkDays) {
    accept("set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"");
    accept("set server non_work_days += \"FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5\"");
    accept("set server non_work_days += \"FREQ=WEEKLY;BYDAY=FR;INTERVAL=2\"");
    accept("set server non_work_days += \"12/25\"");
    EXPECT_EQ(server.attribute("server", "non_work_days"),
              "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1,FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5,"
              "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2,FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    EXPECT_THAT(refuse("set server non_work_days += 13/45"), HasSubstr("13/45"));
    accept("unset server non_work_days");
    EXPECT_EQ(server.attribute("server", "non_work_days"), "(none)");
}

TEST_F(Objects, Interface4FsGroup) {
    accept("create fs_group f1");
    const std::pair<const char*, const char*> defaults[] = {{"entity", "euser"},
                                                            {"decay_time", "24:00:00"},
                                                            {"decay_factor", "0.5"},
                                                            {"unknown_shares", "10"},
                                                            {"enforce_no_shares", "False"}};
    for (const auto& [name, value] : defaults)
        EXPECT_EQ(server.attribute("fs_group f1", name), value) << name;
    accept("set fs_group f1 usage_formula = \"cput*fs_factor\"");
    accept("set fs_group f1 decay_time=18:00:00");
    accept("set fs_group f1 tree_element = [ group01:root = 30 ]");
    accept("set fs_group f1 usage_formula = \"ncpus*walltime\"");
    accept("set fs_group f1 entity = queue");
    accept("set fs_group f1 decay_factor = .8");
    accept("set fs_group f1 enforce_no_shares = True");
    accept("set fs_group f1 unknown_shares = 20");
    accept("s f f1 comment=\"Big data fair share settings\"");
    EXPECT_EQ(server.attribute("fs_group f1", "decay_time"), "18:00:00");
    EXPECT_EQ(server.attribute("fs_group f1", "entity"), "queue");
}

TEST_F(Objects, Interface6DeprecatedServerAttributesWarn) {
    NEEDS(own_attributes);
    const Output depth = server.qmgr("s s backfill_depth=3");
    EXPECT_EQ(depth.exit, 0);
    EXPECT_THAT(depth.err,
                HasSubstr("qmgr: Warning: backfill_depth in server is deprecated. Set backfill_depth in a "
                          "policy object."));
    const Output formula = server.qmgr("s s job_sort_formula=\"ncpus\"");
    EXPECT_EQ(formula.exit, 0);
    EXPECT_THAT(formula.err,
                HasSubstr("qmgr: Warning: job_sort_formula in server is deprecated. Set job_sort_formula "
                          "in a policy object."));
}

TEST_F(Objects, FairshareNeedsItsGroup) {
    accept("c policy p1");
    EXPECT_THAT(refuse("s p p1 fairshare=True"), HasSubstr("fairshare_group"));
    EXPECT_NE(refuse("s p p1 fairshare=True, fairshare_group=nowhere"), "");
    accept("c f f1");
    accept("s p p1 fairshare=True, fairshare_group=f1");
    EXPECT_THAT(refuse("d f f1"), HasSubstr("p1"));
}

TEST_F(Objects, PrintIsReadBackByAnotherServer) {
    accept("c policy night");
    accept("s p night by_queue=False, job_sort_key='ncpus HIGH, mem LOW', comment='after hours'");
    accept("c t office");
    accept("s t office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', start_time=0800, end_time=1700, type=prime");
    accept("set server non_work_days = '12/25'");
    accept("s sched default policy='default_policy,np:night'");
    const auto print = [](const Server& of) {
        std::string all;
        for (const char* what :
             {"policy night", "time_window office", "fs_group @default", "sched default"}) {
            if (std::string(what) != "fs_group @default") all += of.qmgr(std::string("print ") + what).out;
        }
        return all;
    };
    const std::string first = print(server);
    EXPECT_THAT(first, HasSubstr("create policy night"));
    Server second;
    ASSERT_TRUE(second.start());
    const Output read = second.command({"qmgr"}, {.input = first});
    EXPECT_EQ(read.exit, 0) << read;
    EXPECT_EQ(print(second), first);
}

// The list takes several replies. The server keeps the texts of the objects for later lists, but a later list
// has to show all changes.
TEST_F(Objects, ALongListIsWholeAndShowsWhatHasChangedSince) {
    constexpr int kCount = 700;
    std::string input;
    std::vector<std::string> names{"default_policy"};
    for (int i = 0; i < kCount; ++i) {
        names.push_back("q" + std::to_string(1000 + i));
        input += "create policy " + names.back() + " comment='of " + names.back() + "'\n";
    }
    ASSERT_EQ(server.command({"qmgr"}, {.input = input}).exit, 0);
    const auto listed = [&](const std::string& attributes) {
        std::istringstream list(server.qmgr("list policy @default " + attributes).out);
        std::vector<std::string> found;
        std::string line;
        while (std::getline(list, line))
            if (line.starts_with("Policy ")) found.push_back(line.substr(7));
        return found;
    };
    EXPECT_EQ(listed(""), names);
    EXPECT_EQ(listed("comment"), names);
    const std::string before = server.qmgr("list policy @default").out;
    EXPECT_EQ(server.qmgr("list policy @default").out, before);
    accept("set policy q1350 comment='changed'");
    accept("unset policy q1351 comment");
    accept("delete policy q1352");
    accept("create policy q1352");
    accept("delete policy q1699");
    std::string expected = before;
    const auto replace = [&expected](const std::string& from, const std::string& to) {
        const std::size_t at = expected.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        expected.replace(at, from.size(), to);
    };
    replace("    comment = of q1350\n", "    comment = changed\n");
    replace("    comment = of q1351\n", "");
    replace("    comment = of q1352\n", "");
    expected.resize(expected.find("Policy q1699\n"));
    EXPECT_EQ(server.qmgr("list policy @default").out, expected);
}

TEST_F(Objects, ErrorsNameAttributeAndExpectation) {
    accept("c policy p1");
    EXPECT_THAT(refuse("s p p1 by_queue=perhaps"), HasSubstr("by_queue"));
    EXPECT_THAT(refuse("s p p1 by_qeue=True"), HasSubstr("by_qeue"));
    EXPECT_THAT(refuse("s p p1 max_starve=soon"), HasSubstr("max_starve"));
    EXPECT_NE(refuse("c policy p1"), "") << "exists";
    EXPECT_NE(refuse("c policy 1st"), "") << "no name";
    EXPECT_NE(refuse("c policy " + std::string(65, 'x')), "") << "too long";
    EXPECT_NE(refuse("s policy nowhere by_queue=True"), "");
}

}  // namespace
}  // namespace pbs::e2e
