// Tests policies, time windows and fs_groups in a real OpenPBS server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the number with which the text begins; 0 if there is none.
int number_in(const std::string& text) {
    int number = 0;
    std::istringstream(text) >> number;
    return number;
}

class OpenpbsObjects : public AttachedSite {
  protected:
    void accept(const std::string& directive, const std::string& user = "alice") const {
        const Output output = site->qmgr(directive, user);
        EXPECT_EQ(output.exit, 0) << directive << ": " << output;
    }
    std::string refuse(const std::string& directive, const std::string& user = "alice") const {
        const Output output = site->qmgr(directive, user);
        EXPECT_NE(output.exit, 0) << directive << " as " << user << ": " << output;
        return output.err;
    }
    std::string list(const std::string& object) const {
        return site->ok("$ours/qmgr -c 'list " + object + "'", "una");
    }
    void make_windows() const {
        accept("create time_window t1");
        accept("set time_window t1 rrule='FREQ=DAILY', start_time=0800, end_time=1700");
        accept("create time_window t2");
        accept("set time_window t2 rrule='FREQ=DAILY', start_time=1200, end_time=1300");
    }
};

TEST_P(OpenpbsObjects, AreMadeSetListedPrintedAndDeletedByAManagerWithoutRoot) {
    accept("create policy p1");
    accept("set policy p1 by_queue = False, backfill_depth = 7");
    EXPECT_EQ(attribute_in(list("policy p1"), "by_queue"), "False");
    accept("unset policy p1 backfill_depth");
    EXPECT_EQ(attribute_in(list("policy p1"), "backfill_depth"), "1");
    make_windows();
    EXPECT_EQ(attribute_in(list("time_window t1"), "rrule"), "FREQ=DAILY");
    accept("create fs_group g1");
    EXPECT_THAT(list("fs_group @default"), HasSubstr("Fs_group g1"));
    const std::string printed = site->ok("$ours/qmgr -c 'print policy p1'", "alice");
    EXPECT_THAT(printed, HasSubstr("set policy p1 by_queue = False"));
    accept("delete fs_group g1");
    EXPECT_THAT(refuse("list fs_group g1"), HasSubstr("15212"));
    EXPECT_THAT(refuse("delete policy default_policy"), HasSubstr("default_policy cannot be deleted"));
    EXPECT_THAT(refuse("create policy p1"), HasSubstr("exists already"));
    EXPECT_THAT(refuse("set policy p9 by_queue = True"), HasSubstr("there is no policy 'p9'"));
    const std::string history = site->ok("$ours/pbs_config history", "alice");
    EXPECT_THAT(history, HasSubstr("alice@box  set policy p1 by_queue = False, backfill_depth = 7"));
}

TEST_P(OpenpbsObjects, AttributesOfTheServersOwnObjects) {
    make_windows();
    accept("create policy p2");
    accept("set sched default policy = 'default_policy,np:p2'");
    accept("set queue workq time_window = t1");
    accept("set server non_work_days = 12/25");
    EXPECT_EQ(attribute_in(list("sched default"), "policy"), "default_policy,np:p2");
    EXPECT_EQ(attribute_in(list("queue workq"), "time_window"), "t1");
    EXPECT_EQ(attribute_in(list("server"), "non_work_days"), "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    // A request can name the attributes that it wants, as programs that show calendars do.
    EXPECT_THAT(list("server non_work_days"), Not(HasSubstr("server_state")));
    EXPECT_THAT(list("queue workq time_window"), Not(HasSubstr("queue_type")));
    // OpenPBS's own qmgr lists the plugin's attributes. Its `print` omits them, so that its output can be
    // given to a server that doesn't know them.
    EXPECT_THAT(site->stock_qmgr("list queue workq").out, HasSubstr("time_window = t1"));
    EXPECT_THAT(site->stock_qmgr("print queue workq").out, Not(HasSubstr("time_window")));
    accept("unset sched default policy");
    accept("unset queue workq time_window");
    accept("unset server non_work_days");
    EXPECT_THAT(list("queue workq") + list("server"),
                Not(AnyOf(HasSubstr("time_window"), HasSubstr("non_work_days"))));
}

TEST_P(OpenpbsObjects, ARequestWithTheServersAttributesAndOursIsCarriedOutWholeOrNotAtAll) {
    make_windows();
    accept("set queue workq Priority = 5, time_window = t1, max_queued = '[u:PBS_GENERIC=9]'");
    EXPECT_EQ(attribute_in(list("queue workq"), "Priority"), "5");
    EXPECT_EQ(attribute_in(list("queue workq"), "time_window"), "t1");
    // The plugin's part is refused, because the windows overlap or a window doesn't exist.
    EXPECT_THAT(refuse("set queue workq Priority = 6, time_window = 't1,t2'"), HasSubstr("15014"));
    EXPECT_THAT(refuse("set queue workq time_window = t9, Priority = 6"), HasSubstr("no time_window 't9'"));
    EXPECT_EQ(attribute_in(list("queue workq"), "Priority"), "5");
    // The server's part is refused, for various reasons.
    EXPECT_THAT(refuse("set queue workq time_window = t2, Priority = high"), HasSubstr("15014"));
    EXPECT_THAT(refuse("set queue workq time_window = t2, no_such_attribute = 5"), HasSubstr("15002"));
    EXPECT_THAT(refuse("set queue nowhere time_window = t2"), HasSubstr("15018"));
    EXPECT_THAT(refuse("set sched nobody policy = default_policy"), HasSubstr("15213"));
    EXPECT_EQ(attribute_in(list("queue workq"), "time_window"), "t1");
    EXPECT_THAT(refuse("set queue @default time_window = t2"), HasSubstr("one queue at a time"));
    // A queue is created with both parts or not at all.
    accept("create queue q2 queue_type=execution, time_window=t2");
    EXPECT_EQ(attribute_in(list("queue q2"), "time_window"), "t2");
    EXPECT_NE(refuse("create queue q3 queue_type=execution, time_window=t9"), "");
    EXPECT_NE(refuse("create queue q4 queue_type=nonsense, time_window=t1"), "");
    EXPECT_NE(refuse("list queue q3") + refuse("list queue q4"), "");
    // A new queue has no attributes of an earlier queue of the same name.
    accept("delete queue q2");
    accept("create queue q2 queue_type=execution");
    EXPECT_THAT(list("queue q2"), Not(HasSubstr("time_window")));
}

TEST_P(OpenpbsObjects, AQueueOrResourceThatAPolicyNamesStays) {
    accept("create queue special queue_type=execution");
    accept("create resource scratch type=long, flag=nh");
    accept("create policy p1");
    accept("set policy p1 node_sort_key = 'scratch HIGH'");
    accept("set policy p1 dedicated_queues = special");
    for (const char* directive : {"delete queue special", "delete resource scratch"}) {
        // Managers are refused, whichever client they use, and are told why. Users without the right aren't
        // told.
        const Output stock = site->stock_qmgr(directive);
        EXPECT_NE(stock.exit, 0) << directive;
        EXPECT_THAT(stock.err, HasSubstr("p1")) << directive;
        EXPECT_THAT(site->stock_qmgr(directive, "una").err, AllOf(HasSubstr("15007"), Not(HasSubstr("p1"))));
    }
    accept("delete policy p1");
    EXPECT_EQ(site->stock_qmgr("delete queue special").exit, 0);
    EXPECT_EQ(site->stock_qmgr("delete resource scratch").exit, 0);
}

// Each user makes each kind of changing request that he may not make.
TEST_P(OpenpbsObjects, UsersAndOperatorsAreRefused) {
    make_windows();
    accept("create policy p1");
    accept("create fs_group g1");
    accept("set queue workq time_window = t1");
    accept("set server non_work_days = 12/25");
    std::vector<std::string> directives{
        "set sched default policy = p1",
        "set sched default policy += np:p1",
        "unset sched default policy",
        "set sched default policy = p1, scheduling = True",
        "set queue workq time_window = t2",
        "unset queue workq time_window",
        "set queue workq time_window = t2, comment_of = x",
        "set queue workq Priority = 9, time_window = t2",
        "create queue q9 queue_type=execution, time_window = t1",
        "set server non_work_days = 01/01",
        "set server non_work_days -= 12/25",
        "unset server non_work_days",
        "set server non_work_days = 01/01, scheduling = False",
    };
    for (const std::string type : {"policy", "time_window", "fs_group"}) {
        const std::string name = type == "policy" ? "p1" : type == "time_window" ? "t1" : "g1";
        directives.push_back("create " + type + " another");
        directives.push_back("delete " + type + " " + name);
    }
    directives.push_back("set policy p1 by_queue = False");
    directives.push_back("unset policy p1 by_queue");
    directives.push_back("set time_window t2 end_time = 1400");
    directives.push_back("set policy nothing by_queue = False");
    const std::string before = site->ok("$ours/pbs_config history", "alice");
    const auto servers = [&] { return site->ok("$stock/qmgr -c 'print server'"); };
    const std::string own_before = servers();
    for (const std::string user : {"una", "oscar"})
        for (const std::string& directive : directives)
            EXPECT_THAT(refuse(directive, user), HasSubstr("15007")) << user << ": " << directive;
    for (const std::string user : {"una", "oscar"}) {
        EXPECT_THAT(site->refused("$ours/pbs_config rollback 3", user), HasSubstr("Unauthorized")) << user;
        EXPECT_THAT(
            site->refused("echo '{}' > /tmp/$USER.json; $ours/pbs_config import /tmp/$USER.json", user),
            Not(HasSubstr("success")));
    }
    EXPECT_EQ(site->ok("$ours/pbs_config history", "alice"), before);
    EXPECT_EQ(servers(), own_before);
    // Everybody may list objects; the history is for operators.
    for (const std::string user : {"una", "oscar"})
        for (const char* object : {"policy p1", "time_window t1", "fs_group g1", "policy @default"})
            EXPECT_EQ(site->qmgr(std::string("list ") + object, user).exit, 0) << user << " " << object;
    EXPECT_THAT(site->refused("$ours/pbs_config history", "una"), HasSubstr("Unauthorized"));
    EXPECT_EQ(site->ok("$ours/pbs_config history", "oscar"), before);
}

TEST_P(OpenpbsObjects, HistoryRollbackAndExport) {
    accept("create policy p1");
    accept("set policy p1 by_queue = False");
    accept("set sched default policy = p1");
    const std::string history = site->ok("$ours/pbs_config history", "alice");
    accept("set policy p1 by_queue = True");
    accept("set sched default policy = default_policy");
    accept("delete policy p1");
    // The history's last line has the revision with both changes.
    const std::string last = history.substr(history.rfind('\n', history.size() - 2) + 1);
    site->ok("$ours/pbs_config rollback " + last.substr(0, last.find("  20")), "alice");
    EXPECT_EQ(attribute_in(list("sched default"), "policy"), "p1");
    EXPECT_EQ(attribute_in(list("policy p1"), "by_queue"), "False");
    site->ok("$ours/pbs_config export > /tmp/alice.json", "alice");
    accept("set sched default policy = default_policy");
    accept("delete policy p1");
    site->ok("$ours/pbs_config import /tmp/alice.json", "alice");
    EXPECT_EQ(attribute_in(list("sched default"), "policy"), "p1");
}

TEST_P(OpenpbsObjects, ABackupCanBePutBack) {
    accept("create policy p1");
    const std::string told = site->ok("$ours/pbs_config backup", "alice");
    const std::string folder = told.substr(0, told.find('\n')).substr(told.find('/'));
    EXPECT_THAT(site->refused("$ours/pbs_config backup", "oscar"), HasSubstr("Unauthorized"));
    accept("create policy p2");
    site->stop();
    site->ok("$ours/pbs_policyd --stop; cd /var/spool/pbs/server_priv && rm -f policy.db-* && cp " + folder +
             "/policy.db policy.db");
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("list policy p1").exit, 0);
    EXPECT_NE(site->qmgr("list policy p2").exit, 0);
    accept("create policy p3");
}

// The output of `print` restores the site, whether OpenPBS's qmgr or this project's has printed it.
TEST_P(OpenpbsObjects, WhatIsPrintedRestoresASite) {
    make_windows();
    accept("create policy p1");
    accept("set policy p1 backfill_depth = 7, job_sort_key = 'ncpus HIGH'");
    accept("create queue q1 queue_type=execution, Priority=9, time_window=t1");
    accept("set server non_work_days = '12/25 SUMMARY:Christmas Day'");
    accept("set sched default policy = 'default_policy,np:p1'");
    const auto print = [](const Site& of) {
        return of.ok(
            "$stock/qmgr -c 'print server'; $ours/qmgr -c 'print time_window @default'; $ours/qmgr -c "
            "'print fs_group @default'; $ours/qmgr -c 'print policy @default'; for o in 'queue @default' "
            "'sched default' server; do $ours/qmgr -c \"print $o\" | grep -e time_window -e ' policy = ' "
            "-e non_work_days; done",
            "alice");
    };
    const std::string printed = print(*site);
    Site other;
    other.install(options());
    other.start_with_plugin();
    const Output restored = other.sh(
        "cat > /tmp/alice.print <<'END'\n" + printed + "\nEND\n$ours/qmgr < /tmp/alice.print", "alice");
    // It is an error that some objects exist already. But no value is refused.
    EXPECT_THAT(restored.err, Not(AnyOf(HasSubstr("15014"), HasSubstr("15212")))) << restored;
    EXPECT_EQ(print(other), printed);
}

TEST_P(OpenpbsObjects, RootAloneSetsTheFormulasOfServerAndSchedulers) {
    const auto formula = [&](const std::string& object) {
        return attribute_in(site->ok("$stock/qmgr -c 'list " + object + "'"), "job_sort_formula");
    };
    for (const std::string object : {"server", "sched default"}) {
        const std::string set = "set " + object + " job_sort_formula = ";
        EXPECT_EQ(site->qmgr(set + "'ncpus * 2'", "root").exit, 0);
        EXPECT_EQ(formula(object), "ncpus * 2");
        EXPECT_THAT(site->qmgr(set + "mem").err, HasSubstr("15007"));
        // The server doesn't use an old sched_formula file that was left behind.
        site->ok("echo mem > /var/spool/pbs/server_priv/sched_formula");
        EXPECT_EQ(site->qmgr(set + "'ncpus * 3'", "root").exit, 0);
        EXPECT_EQ(formula(object), "ncpus * 3");
        // qmgr removes the file that it has made, even if the server refuses the request before it reads the
        // file.
        EXPECT_NE(site->qmgr("set " + object + " nonsense = 1, job_sort_formula = mem", "root").exit, 0);
        EXPECT_NE(site->sh("test -e /var/spool/pbs/server_priv/sched_formula").exit, 0);
        site->stock_qmgr("unset " + object + " job_sort_formula", "root");
    }
}

TEST_P(OpenpbsObjects, RandomRequestsLeaveTheServerAndTheStoreWhole) {
    make_windows();
    const std::string server = site->ok("cat /var/spool/pbs/server_priv/server.lock");
    for (const char* seed : {"1", "2", "3"}) {
        const std::string replies = site->ok(
            std::string(PBS_BUILD_DIR "/tests/bin/random_requests 10.99.0.1 15001 ") + seed + " 110");
        EXPECT_GT(number_in(replies), 40);
    }
    EXPECT_EQ(site->ok("cat /var/spool/pbs/server_priv/server.lock"), server);
    site->ok("kill -0 " + server);
    EXPECT_EQ(attribute_in(list("time_window t2"), "end_time"), "13:00:00");
    const std::string history = site->ok("$ours/pbs_config history", "alice");
    site->kill_server();
    site->start_with_plugin();
    EXPECT_EQ(site->ok("$ours/pbs_config history", "alice"), history);
}

TEST_P(OpenpbsObjects, ManyRequestsAtOnce) {
    // A client sends many requests without waiting for replies. Three other clients do so at the same time.
    // Listings come in several parts.
    const std::string script =
        "for u in 1 2 3; do (for i in $(seq 40); do echo \"create policy u$u-$i\"; echo \"set policy u$u-$i "
        "by_queue=False\"; done | $ours/qmgr > /tmp/alice.$u 2>&1; echo $? >> /tmp/alice.$u) & done; "
        "for i in $(seq 30); do $stock/qmgr -c 'set queue workq Priority='$i || exit 1; done; wait; "
        "tail -qn 1 /tmp/alice.[123]";
    EXPECT_EQ(site->ok(script, "alice"), "0\n0\n0\n");
    const std::string all = list("policy @default");
    int count = 0;
    for (std::size_t at = all.find("Policy u"); at != std::string::npos; at = all.find("Policy u", at + 1))
        ++count;
    EXPECT_EQ(count, 120);
}

// Kills the server during requests: no acknowledged change is lost.
TEST_P(OpenpbsObjects, AreThereAfterKillsInTheMidstOfRequests) {
    make_windows();
    int made = 0;
    for (int round = 0; round < 4; ++round) {
        // Kill the server while requests are made. The script writes down the names of the policies whose
        // creation has succeeded.
        site->ok(
            "rm -f /tmp/alice.made; (for i in $(seq 200); do $ours/qmgr -c \"create policy r" +
                std::to_string(round) +
                "-$i\" >/dev/null 2>&1 && echo $i >> /tmp/alice.made || break; $ours/qmgr -c \"set "
                "queue workq "
                "Priority=$i, time_window=t1\" >/dev/null 2>&1 && echo $i > /tmp/alice.priority; done) "
                ">/dev/null 2>&1 & for i in $(seq 3000); do [ $(cat /tmp/alice.made 2>/dev/null | wc -l) "
                "-ge " +
                std::to_string(4 + 2 * round) + " ] && break; sleep 0.01; done",
            "alice");
        site->kill_server();
        site->sh("sleep 0.5");
        site->start_with_plugin();
        const std::string all = list("policy @default");
        const std::string names = site->ok("cat /tmp/alice.made");
        std::istringstream numbers(names);
        for (int number = 0; numbers >> number; ++made)
            EXPECT_THAT(all, HasSubstr("Policy r" + std::to_string(round) + "-" + std::to_string(number)));
        const int kept = number_in(site->sh("cat /tmp/alice.priority").out);
        EXPECT_GE(number_in(attribute_in(list("queue workq"), "Priority")), kept);
        EXPECT_EQ(attribute_in(list("queue workq"), "time_window"), "t1");
    }
    EXPECT_GE(made, 4 + 6 + 8 + 10);
}

TEST_P(OpenpbsObjects, SurviveTheServersKill) {
    accept("create policy p1");
    accept("set policy p1 backfill_depth = 12");
    make_windows();
    accept("set queue workq time_window = t1");
    site->kill_server();
    site->start_with_plugin();
    EXPECT_EQ(attribute_in(list("policy p1"), "backfill_depth"), "12");
    EXPECT_EQ(attribute_in(list("queue workq"), "time_window"), "t1");
    site->stop();
    site->start_with_plugin();
    EXPECT_EQ(attribute_in(list("policy p1"), "backfill_depth"), "12");
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsObjects, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e
