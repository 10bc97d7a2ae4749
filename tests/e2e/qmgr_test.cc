// Tests qmgr with a running server: printing, reading the print back, exit statuses, names of objects, the
// commands in PP-748 as a shell passes them, and qmgr on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <random>

#include <fmt/format.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

Output read_in(const Server& server, const std::string& directives, std::vector<std::string> options = {}) {
    options.insert(options.begin(), "qmgr");
    return server.command(options, {.input = directives});
}

std::string printed(const Server& server, const std::string& what = "server") {
    const Output text = server.qmgr("print " + what);
    EXPECT_EQ(text.exit, 0) << text;
    EXPECT_EQ(text.err, "");
    return text.out;
}

// Prints objects of a server, reads the output into a new server, and checks that the new server prints the
// same.
void expect_round_trip(const Server& first, const std::vector<std::string>& what) {
    Server second;
    ASSERT_TRUE(second.start());
    for (const std::string& one : what) {
        // The folders of schedulers are in the server's home. So replace the first home's path with the
        // second's.
        const std::string text = replaced(printed(first, one), first.home(), second.home());
        const Output done = read_in(second, text, {"-a"});
        EXPECT_EQ(done.exit, 0) << done << text;
        EXPECT_EQ(printed(second, one), text);
    }
}

// Returns the objects to print. On OpenPBS, vnodes aren't printed, as OpenPBS's server also prints what the
// mom has reported of them.
std::vector<std::string> with_vnodes() {
    if (on_openpbs()) return {"server"};
    return {"server", "node @default"};
}

class Qmgr : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(server.start()); }
    Server server;
};

TEST_F(Qmgr, CommandsOfSeveralOptionsAreCarriedOutInTurn) {
    const Output done =
        server.command({"qmgr", "-c", "create policy a", "-c", "set policy a by_queue=False; list policy a"});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.out, HasSubstr("by_queue = False"));
    const Output stopped = server.command({"qmgr", "-a", "-c", "create policy a", "-c", "delete policy a"});
    EXPECT_NE(stopped.exit, 0);
    EXPECT_THAT(printed(server), HasSubstr("create policy a")) << "-a ends at the first that is refused";
}

TEST_F(Qmgr, PrintOfANewServerIsReadBackTheSame) {
    expect_round_trip(server, {"server"});
}

TEST_F(Qmgr, PrintOfEveryKindOfObjectIsReadBackTheSame) {
    ASSERT_TRUE(server.configure({
        "create resource colour type=string, flag=h",
        "create resource tags type=string_array, flag=h",
        "create resource scratch type=size, flag=nh",
        "create resource licences type=long, flag=q",
        ("create time_window office rrule=\"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\", start_time=0600, "
         "end_time=18:00"),
        "set time_window office type=prime, applies_on_holidays=False",
        "create time_window odd rrule=\"DTSTART:20260101T080000 RRULE:FREQ=DAILY EXDATE:20260105T080000\"",
        "create time_window zoned rrule='DTSTART;TZID=\"Europe/Paris\":20260101T080000 RRULE:FREQ=YEARLY'",
        "create queue workq queue_type=execution, enabled=True, started=True, Priority=100",
        "set queue workq time_window=office",
        "set queue workq acl_users=\"alice@*,-bob@x.org\", acl_user_enable=True",
        "set queue workq resources_max.walltime=1:00:00, resources_default.colour=\"dark, red\"",
        "create queue zq queue_type=execution",
        "create queue aroute queue_type=route, route_destinations=\"workq,zq\"",
        "set queue aroute enabled=True, started=True",
        "create fs_group f1",
        "set fs_group f1 tree_element = [ group01:root = 30 ]",
        "set fs_group f1 tree_element += [ alice:group01 = 3 ]",
        "set fs_group f1 usage_formula=\"ncpus*walltime\", decay_factor=.8, entity=queue",
        "create policy p1 by_queue=False, strict_ordering=True",
        "set policy p1 fairshare_group=f1, fairshare=True, dedicated_queues=\"workq,zq\"",
        "set policy p1 node_sort_key=\"sort_priority HIGH, ncpus HIGH unused\"",
        "set policy p1 server_dyn_res=\"scratch !/bin/true\"",
        "set policy p1 job_sort_formula=\"ncpus * (walltime + 1)\"",
        "set server managers += \"alice@*,carol@x.org\"",
        "set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"",
        "set server non_work_days += 12/25",
        "set server non_work_days += \"FREQ=WEEKLY;BYDAY=FR,SA;INTERVAL=2\"",
        "set server default_queue=workq, resources_available.licences=5",
        "unset server log_events, resources_default.ncpus",
        "create sched s2 partition=part2",
        "set sched s2 policy=\"default_policy,p:p1\"",
        // OpenPBS's server drops scheduler_iteration when the scheduler is deleted
        of_host("unset sched s2 scheduler_iteration", "set sched s2 scheduler_iteration=300"),
        "create node n1 resources_available.ncpus=4, resources_available.tags=\"a,b\", queue=workq",
        "unset node n1 resources_available.mem",
        "set node n1 state=offline",
        "create node n2 resources_available.colour=\"it's\"",
    }));
    expect_round_trip(server, with_vnodes());
}

TEST_F(Qmgr, PrintUnsetsThePoliciesOfTheDefaultScheduler) {
    ASSERT_TRUE(server.configure({"unset sched default policy"}));
    EXPECT_THAT(printed(server, "sched"), HasSubstr("unset sched policy\n"));
    expect_round_trip(server, {"server"});
}

// Some attributes take any text. Sets them to random texts that are difficult to quote, and checks that their
// print is read back as the same texts.
TEST_F(Qmgr, PrintOfAwkwardTextsIsReadBackTheSame) {
    const std::vector<std::string> pieces = {
        "a",        "'",    "\"", ",",  "; list server", " #", "\\", " ", "=", "b = c, d = e", "[", "]",
        "\xc3\xbc", "\xe9", "!",  "''", "\"\"",          "x"};
    std::mt19937 random(748);
    const auto text = [&] {
        std::string value = "t";  // begin with a letter: setting an empty text would unset the attribute
        for (unsigned n = 1 + random() % 7; n > 0; --n) value += pieces[random() % pieces.size()];
        return value;
    };
    const auto quoted = [](const std::string& value) {
        return "\"" + replaced(value, "\"", "\"'\"'\"") + "\"";
    };
    std::string directives = "create queue q1\ncreate time_window t1\ncreate fs_group f1\n";
    for (int i = 0; i < 6; ++i) {
        directives += fmt::format("create policy p{} comment={}\n", i, quoted(text()));
        directives += fmt::format("create node n{} comment={}\n", i, quoted(text()));
    }
    for (const char* object : {"server", "queue q1", "time_window t1", "fs_group f1", "sched default"}) {
        directives += fmt::format("set {} comment = {}\n", object, quoted(text()));
    }
    const Output done = read_in(server, directives, {"-a"});
    ASSERT_EQ(done.exit, 0) << done;
    EXPECT_EQ(besides_not_acted_on(done.err), "");
    expect_round_trip(server, with_vnodes());
}

TEST_F(Qmgr, NewlinesInQuotesOfACommandArePartOfTheValue) {
    ASSERT_TRUE(server.configure(
        {"create time_window t1 rrule=\"DTSTART:20260101T080000\nRRULE:FREQ=DAILY\",\n  start_time=0600"}));
    EXPECT_EQ(server.attribute("time_window t1", "start_time"), "06:00:00");
    EXPECT_EQ(server.attribute("time_window t1", "rrule"), "DTSTART:20260101T080000 RRULE:FREQ=DAILY");
    ASSERT_TRUE(server.configure(
        {"create policy p1\nset policy p1 by_queue=False # off\nset policy p1 fairshare=False"}));
    EXPECT_EQ(server.attribute("policy p1", "by_queue"), "False");
    expect_round_trip(server, {"server"});
}

// Input of qmgr and its exit statuses, without and with -a. They are those of OpenPBS's qmgr (main() in
// src/cmds/qmgr.c) unless a comment says otherwise.
struct Status {
    const char* input;  // lines of input
    int exit;
    int exit_with_a;
    const char* err;  // part of the error messages
};

class QmgrStatus : public Qmgr, public ::testing::WithParamInterface<Status> {
  protected:
    void SetUp() override {
        Qmgr::SetUp();
        ASSERT_TRUE(server.configure({"create policy p1,p2", "create queue q1"}));
    }
};

TEST_P(QmgrStatus, IsThatOfThePbsCommand) {
    const auto& [input, exit, exit_with_a, err] = GetParam();
    const Output plain = read_in(server, input);
    EXPECT_EQ(plain.exit, exit) << plain;
    EXPECT_THAT(plain.err, HasSubstr(err));
    const Output silent = read_in(server, input, {"-z"});
    EXPECT_EQ(silent.exit, exit) << silent;
    EXPECT_EQ(silent.err, "");
    EXPECT_EQ(read_in(server, input, {"-a"}).exit, exit_with_a);
    EXPECT_EQ(read_in(server, input, {"-a", "-z"}).exit, exit_with_a);
}

// A status above 100 is the low byte of an error number: 108 stands for 15212, 154 for 15002, 166 for 15014,
// 170 for 15018.
INSTANTIATE_TEST_SUITE_P(
    Table, QmgrStatus,
    ::testing::Values(
        Status{"set policy p1 by_queue=True", 0, 0, ""}, Status{"", 0, 0, ""},
        // a wrong command, object type, name or attribute list gives status 1 to 4, and 1 with -a
        Status{"frob server", 1, 1, "qmgr: Illegal operation: frob"},
        Status{"set", 2, 1, "qmgr: No object type given"},
        Status{"set host x y=1", 2, 1, "Illegal object type"},
        Status{"list queue 7up", 3, 1, "list queue 7up\n           ^\n"},
        Status{"set policy p1", 4, 1, "set policy p1\n             ^\n"},
        Status{"set policy p1 by_queue=True fairshare=True", 4, 1,
               "set policy p1 by_queue=True fairshare=True\n                            ^\n"},
        Status{"set policy p1 comment=\"abc", 4, 1, "set policy p1 comment=\"abc\n                      ^\n"},
        // a refusal gives the low byte of the error's number; with several objects, that of the last refusal
        Status{"set policy p1 by_queue=perhaps", 166, 2,
               "qmgr obj=p1 svr=default: policy p1: by_queue: bad value 'perhaps'"},
        Status{"set policy nope by_queue=True", 108, 2, "qmgr: Error (15212) returned from server"},
        Status{"set policy p1,nope,p2 by_queue=True", 108, 2, "qmgr obj=nope svr=default: "},
        Status{"set queue nope enabled=True", 170, 2, "qmgr obj=nope svr=default: Unknown queue"},
        Status{"unset policy p1 nope", 154, 2, "nope"},
        // an object that can't be listed or printed gives 1, and 2 with -a
        Status{"list policy nope", 1, 2, "qmgr obj=nope svr=default: "},
        Status{"print queue nope", 1, 2, "Unknown queue"},
        Status{"list sched nope", 1, 2, "qmgr obj=nope svr=default: Unknown scheduler"},
        // a list of objects of which none is active gives a message and status 0
        Status{"list queue", 0, 0, "No Active Queues, nothing done."},
        Status{"active queue nope", 1, 2, "Queue does not exist: nope."},
        Status{"active policy nope", 1, 2, "Policy does not exist: nope."},
        // qmgr goes on with the next line after an error; its status is that of the last error
        Status{"set policy nope by_queue=True\nset policy p1 by_queue=True", 0, 2, "15212"},
        Status{"frob\nset policy nope by_queue=True", 108, 1, "15212"}, Status{"frob\nquit", 0, 1, "frob"},
        // a server that can't be reached gives status 1, and 2 with -a
        Status{"list server nowhere.invalid", 1, 2, "nowhere.invalid"},
        Status{"list node @default", 1, 2, "Server has no node list"},
        // OpenPBS's qmgr exits with 255 after help or an empty line, and with 1 after an empty list; here the
        // status is 0
        Status{"help", 0, 0, ""}, Status{"list time_window", 0, 0, ""}, Status{"  ", 0, 0, ""}));

TEST_F(Qmgr, StatusOfAWrongCommandLineAndOfAServerThatIsNotThere) {
    const Output wrong = server.command({"qmgr", "-x"});
    EXPECT_EQ(wrong.exit, 1);
    EXPECT_THAT(wrong.err, HasSubstr("usage: qmgr [-a] [-c command]... [-e] [-n] [-z] [server...]\n"));
    EXPECT_EQ(wrong.out, "");
    EXPECT_EQ(server.command({"qmgr", "-c", "list server", "nowhere.invalid"}).exit, 3);
    const Output nothing_done = server.command({"qmgr", "-n", "-c", "create policy p9"});
    EXPECT_EQ(nothing_done.exit, 0) << nothing_done;
    EXPECT_EQ(server.command({"qmgr", "-n", "-c", "create policy 9"}).exit, 3);
    EXPECT_EQ(server.qmgr("list policy p9").exit, 1);
}

TEST_F(Qmgr, ErrorsInAFileDoNotStopItWithoutA) {
    const std::string lines =
        "create policy p1\nset policy p1 by_queue=what\nset policy p1 fairshare=no way\n"
        "set policy p1 strict_ordering=True\n";
    const Output done = read_in(server, lines);
    EXPECT_EQ(done.exit, 0) << "the last directive was carried out";
    EXPECT_THAT(done.err, HasSubstr("by_queue"));
    EXPECT_THAT(done.err, HasSubstr("Syntax error"));
    EXPECT_EQ(server.attribute("policy p1", "strict_ordering"), "True");
}

TEST_F(Qmgr, CreateAndSetAreOfAllAttributesOrNone) {
    ASSERT_TRUE(server.configure({"create policy p1 by_queue=False, strict_ordering=True"}));
    EXPECT_EQ(server.attribute("policy p1", "by_queue"), "False");
    EXPECT_EQ(server.attribute("policy p1", "strict_ordering"), "True");
    EXPECT_EQ(server.qmgr("create policy p2 by_queue=False, strict_ordering=perhaps").exit, 166);
    EXPECT_EQ(server.qmgr("list policy p2").exit, 1) << "nothing half-done";
    EXPECT_EQ(server.qmgr("set policy p1 by_queue=True, strict_ordering=perhaps").exit, 166);
    EXPECT_EQ(server.attribute("policy p1", "by_queue"), "False");
}

TEST_F(Qmgr, SetOfSeveralObjectsIsOfEachByItself) {
    ASSERT_TRUE(server.configure({"create policy p1,p2"}));
    const Output done = server.qmgr("set policy p1,no1,p2,no2 by_queue=False");
    EXPECT_EQ(done.exit, 108) << done;
    EXPECT_THAT(done.err, HasSubstr("qmgr obj=no1 svr=default: there is no policy 'no1'\n"));
    EXPECT_THAT(done.err, HasSubstr("qmgr obj=no2 svr=default: there is no policy 'no2'\n"));
    EXPECT_EQ(server.attribute("policy p1", "by_queue"), "False");
    EXPECT_EQ(server.attribute("policy p2", "by_queue"), "False");
}

struct Naming {
    const char* input;
    const char* out;
};
class QmgrNames : public Qmgr, public ::testing::WithParamInterface<Naming> {
  protected:
    void SetUp() override {
        Qmgr::SetUp();
        ASSERT_TRUE(
            server.configure({"create queue a,b queue_type=execution", "create time_window t1,t2",
                              "create fs_group f1,f2", "create policy p1", "set policy p1 by_queue=False"}));
    }
};

TEST_P(QmgrNames, ChooseTheObjects) {
    const Output done = read_in(server, GetParam().input, {"-a"});
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_EQ(besides_not_acted_on(done.err), "");
    EXPECT_EQ(done.out, GetParam().out);
}

INSTANTIATE_TEST_SUITE_P(
    Table, QmgrNames,
    ::testing::Values(
        Naming{"list queue a,b queue_type",
               "Queue a\n    queue_type = Execution\n\nQueue b\n    queue_type = Execution\n\n"},
        Naming{"list queue @default queue_type",
               "Queue a\n    queue_type = Execution\n\nQueue b\n    queue_type = Execution\n\n"},
        Naming{"l q b@default queue_type", "Queue b\n    queue_type = Execution\n\n"},
        Naming{"list queues a@active queue_type", "Queue a\n    queue_type = Execution\n\n"},
        Naming{"l p by_queue",
               "Policy default_policy\n    by_queue = True\n\nPolicy p1\n    by_queue = False\n\n"},
        Naming{"list policies by_queue",
               "Policy default_policy\n    by_queue = True\n\nPolicy p1\n    by_queue = False\n\n"},
        Naming{"list policy p1 by_queue, fairshare",
               "Policy p1\n    by_queue = False\n    fairshare = False\n\n"},
        Naming{"list policy p1 by_queue,fairshare",
               "Policy p1\n    by_queue = False\n    fairshare = False\n\n"},
        Naming{"set policy @default by_queue=True\nl p @default by_queue",
               "Policy default_policy\n    by_queue = True\n\nPolicy p1\n    by_queue = True\n\n"},
        Naming{"set queue @default Priority=7\nlist queue b Priority", "Queue b\n    Priority = 7\n\n"},
        Naming{"list time_windows t2,t1 type",
               "Time_window t2\n    type = standard\n\nTime_window t1\n    type = standard\n\n"},
        Naming{"l t type", "Time_window t1\n    type = standard\n\nTime_window t2\n    type = standard\n\n"},
        Naming{"l f f2 entity", "Fs_group f2\n    entity = euser\n\n"},
        Naming{"list fs_groups @default entity",
               "Fs_group f1\n    entity = euser\n\nFs_group f2\n    entity = euser\n\n"},
        Naming{"delete fs_group @default\nlist fs_group", ""},
        Naming{"active time_window t1\nset time_window type=prime\nlist t type\nlist t t2 type\nactive "
               "time_window",
               "Time_window t1\n    type = prime\n\nTime_window t2\n    type = standard\n\n"
               "Active time_windows:\nt1@default\n"},
        Naming{"active policy p1,default_policy\nunset policy by_queue\nlist policy by_queue",
               "Policy p1\n    by_queue = True\n\nPolicy default_policy\n    by_queue = True\n\n"},
        Naming{"active queue @default\nlist queue queue_type",
               "Queue a\n    queue_type = Execution\n\nQueue b\n    queue_type = Execution\n\n"},
        Naming{"print policy p1 by_queue",
               "#\n# Create policies and set their attributes.\n#\n#\n# Create and define policy p1\n#\n"
               "create policy p1\nset policy p1 by_queue = False\n"},
        Naming{"list sched policy", "Sched default\n    policy = default_policy\n\n"},
        Naming{"list sched default policy,scheduling",
               "Sched default\n    scheduling = True\n    policy = default_policy\n\n"}));

// The command lines in PP-748, word for word, as a user types them in a shell. Three of them lack a closing
// quotation mark in PP-748, which is added here.
struct Example {
    const char* line;
    const char* object;
    const char* attribute;
    const char* value;
};

class QmgrExamples : public Qmgr {
  protected:
    Output shell(const std::string& line) {
        const std::string path = program("qmgr").parent_path().string();
        return server.command({"/bin/sh", "-c", "PATH=" + path + ":$PATH\n" + line});
    }
    void expect_all(const std::vector<Example>& examples) {
        for (const Example& example : examples) {
            const Output done = shell(example.line);
            EXPECT_EQ(done.exit, 0) << example.line << ": " << done;
            EXPECT_EQ(besides_not_acted_on(done.err), "") << example.line;
            EXPECT_EQ(server.attribute(example.object, example.attribute), example.value) << example.line;
        }
    }
    // Types the examples at qmgr's prompt.
    void expect_typed(const std::vector<Example>& examples) {
        for (const Example& example : examples) {
            const Output done = read_in(server, example.line);
            EXPECT_EQ(done.exit, 0) << example.line << ": " << done;
            EXPECT_EQ(besides_not_acted_on(done.err), "") << example.line;
            EXPECT_EQ(server.attribute(example.object, example.attribute), example.value) << example.line;
        }
    }
};

TEST_F(QmgrExamples, OfInterface1) {
    ASSERT_TRUE(server.configure({"create resource color type=string", "create fs_group fs_grp1",
                                  "create queue workq,queue1,queue2", "create sched scheduler1"}));
    expect_all({
        {R"(qmgr -c "c policy p1")", "policy p1", "by_queue", "True"},
        {R"(qmgr -c "s p p1 by_queue=False, strict_ordering=True")", "policy p1", "by_queue", "False"},
        {R"(qmgr -c "s sched scheduler1 policy=p1")", "sched scheduler1", "policy", "p1"},
        {R"(qmgr -c "s policy p1 round_robin=True")", "policy p1", "round_robin", "True"},
        {R"(qmgr -c "s policy p1 by_queue=True")", "policy p1", "by_queue", "True"},
        {R"(qmgr -c "s policy p1 strict_ordering=True")", "policy p1", "strict_ordering", "True"},
        {R"(qmgr -c "s policy p1 help_starving_jobs=True")", "policy p1", "help_starving_jobs", "True"},
        {R"(qmgr -c "s policy p1 max_starve=24:00:00")", "policy p1", "max_starve", "24:00:00"},
        {R"(qmgr -c 's policy p1 node_sort_key="sort_priority HIGH, ncpus HIGH"')", "policy p1",
         "node_sort_key", "sort_priority HIGH,ncpus HIGH"},
        {R"(qmgr -c "s policy p1 provision_policy="aggressive_provision"")", "policy p1", "provision_policy",
         "aggressive_provision"},
        {R"(qmgr -c 's policy p1 exclude_resources="vmem, color"')", "policy p1", "exclude_resources",
         "vmem,color"},
        {R"(qmgr -c "s policy p1 load_balancing=True")", "policy p1", "load_balancing", "True"},
        {R"(qmgr -c "s policy p1 fairshare_group=fs_grp1")", "policy p1", "fairshare_group", "fs_grp1"},
        {R"(qmgr -c "s policy p1 fairshare=True")", "policy p1", "fairshare", "True"},
        {R"(qmgr -c "s policy p1 preemption=True")", "policy p1", "preemption", "True"},
        {R"(qmgr -c "s policy p1 preempt_queue_prio=190")", "policy p1", "preempt_queue_prio", "190"},
        {R"(qmgr -c 's policy p1 preempt_prio="starving_jobs, normal_jobs, starving_jobs+fairshare"')",
         "policy p1", "preempt_prio", "starving_jobs, normal_jobs, starving_jobs+fairshare"},
        {R"(qmgr -c 's policy p1 preempt_order="SCR 70 SC 30"')", "policy p1", "preempt_order",
         "SCR 70 SC 30"},
        {R"(qmgr -c 's policy p1 preempt_sort="min_time_since_start"')", "policy p1", "preempt_sort",
         "min_time_since_start"},
        {R"(qmgr -c 's policy p1 peer_queue=" workq workq@svr1"')", "policy p1", "peer_queue",
         "workq workq@svr1"},
        // PP-748 names /bin/get_mem here. /bin/true replaces it, as the program has to exist.
        {R"(qmgr -c 's policy p1 server_dyn_res="mem !/bin/true"')", "policy p1", "server_dyn_res",
         "mem !/bin/true"},
        {R"(qmgr -c 's policy p1 dedicated_queues="queue1,queue2"')", "policy p1", "dedicated_queues",
         "queue1,queue2"},
        {R"(qmgr -c "s policy p1 log_event=255")", "policy p1", "log_event", "255"},
        {R"(qmgr -c 's policy p1 job_sort_formula="ncpus*walltime"')", "policy p1", "job_sort_formula",
         "ncpus*walltime"},
        {R"(qmgr -c 's policy p1 backfill_depth=1')", "policy p1", "backfill_depth", "1"},
        {R"(qmgr -c 's policy p1 job_sort_key="ncpus HIGH, mem LOW"')", "policy p1", "job_sort_key",
         "ncpus HIGH,mem LOW"},
        {R"(qmgr -c 's policy p1 prime_spill="01:00:00"')", "policy p1", "time_window_spill", "01:00:00"},
        {R"(qmgr -c 's policy p1 prime_exempt_anytime_queues=false')", "policy p1",
         "prime_exempt_anytime_queues", "False"},
        {R"(qmgr -c 's policy p1 backfill_prime=false')", "policy p1", "backfill_prime", "False"},
        {R"(qmgr -c 's policy p1 comment="afterhours policy"')", "policy p1", "comment", "afterhours policy"},
    });
}

TEST_F(QmgrExamples, OfInterface1OnPrimeAndNonPrimePolicies) {
    ASSERT_TRUE(server.configure({"create policy p1,p2", "create sched sched1"}));
    const Output refused = shell(R"(qmgr -c "s sched sched1 policy+='p:p1'")");
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err,
                HasSubstr("Cannot set prime/non-prime time policy without setting an all time policy"));
    EXPECT_NE(shell(R"(qmgr -c "s sched sched1 policy=p:p1,np:p2")").exit, 0);
    ASSERT_TRUE(server.configure({"set sched sched1 policy=default_policy"}));
    expect_all({
        {R"(qmgr -c "s sched sched1 policy=p:p1,np:p2")", "sched sched1", "policy",
         "default_policy,p:p1,np:p2"},
        {R"(qmgr -c "unset sched sched1 policy")", "sched sched1", "policy", "(none)"},
        {R"(qmgr -c "s sched sched1 policy=p1")", "sched sched1", "policy", "p1"},
    });
}

TEST_F(QmgrExamples, OfInterface2) {
    expect_all({
        {R"(qmgr -c "c time_window t1")", "time_window t1", "type", "standard"},
        {R"(qmgr -c "s t t1 rrule='FREQ=DAILY'")", "time_window t1", "rrule", "FREQ=DAILY"},
        {R"(qmgr -c "s t t1 start_time=0600")", "time_window t1", "start_time", "06:00:00"},
    });
    expect_typed({
        {R"(s t t1 rrule="RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO,TU,WE,TH,FR")", "time_window t1", "rrule",
         "RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO,TU,WE,TH,FR"},
        {"s t t1 applies_on_holidays = False", "time_window t1", "applies_on_holidays", "False"},
        {"s t t1 start_time=06:00:00", "time_window t1", "start_time", "06:00:00"},
        {"s t t1 end_time=09:00:00", "time_window t1", "end_time", "09:00:00"},
        {"s t t1 type=dedicated", "time_window t1", "type", "dedicated"},
        {R"(s t t1 comment="nightly data processing")", "time_window t1", "comment",
         "nightly data processing"},
    });
}

TEST_F(QmgrExamples, OfInterfaces3And4) {
    const std::string first = "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1";
    const std::string second = first + ",FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5";
    const std::string third = second + ",FREQ=WEEKLY;BYDAY=FR;INTERVAL=2";
    expect_typed({
        {R"(set server non_work_days = "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1")", "server", "non_work_days",
         first.c_str()},
        {R"(set server non_work_days += "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5")", "server",
         "non_work_days", second.c_str()},
        {R"(set server non_work_days += "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2")", "server", "non_work_days",
         third.c_str()},
        {"create fs_group f1", "fs_group f1", "entity", "euser"},
        {R"(set fs_group f1 usage_formula = "cput*fs_factor")", "fs_group f1", "usage_formula",
         "cput*fs_factor"},
        {"set fs_group f1 decay_time=18:00:00", "fs_group f1", "decay_time", "18:00:00"},
        {"set fs_group f1 tree_element = [ group01:root = 30 ]", "fs_group f1", "tree_element",
         "group01:root=30"},
        {R"(set fs_group f1 usage_formula = "ncpus*walltime")", "fs_group f1", "usage_formula",
         "ncpus*walltime"},
        {"set fs_group f1 entity = queue", "fs_group f1", "entity", "queue"},
        {"set fs_group f1 decay_time = 06:00:00", "fs_group f1", "decay_time", "06:00:00"},
        {"set fs_group f1 decay_factor = .8", "fs_group f1", "decay_factor", "0.8"},
        {"set fs_group f1 enforce_no_shares = True", "fs_group f1", "enforce_no_shares", "True"},
        {"set fs_group f1 unknown_shares = 20", "fs_group f1", "unknown_shares", "20"},
        {R"(s fs_group f1 comment="Big data fair share settings")", "fs_group f1", "comment",
         "Big data fair share settings"},
    });
}

TEST_F(QmgrExamples, OfInterface6) {
    NEEDS(own_attributes);
    ASSERT_TRUE(server.configure({"create policy p1"}));
    expect_all({{R"(qmgr -c "s policy p1 backfill_depth = 3")", "policy p1", "backfill_depth", "3"}});
    const Output warned = shell(R"(qmgr -c "s s backfill_depth=3")");
    EXPECT_EQ(warned.exit, 0);
    EXPECT_EQ(
        warned.err,
        "qmgr: Warning: backfill_depth in server is deprecated. Set backfill_depth in a policy object.\n");
    EXPECT_EQ(server.attribute("server", "backfill_depth"), "3");
}

// Runs qmgr on a pseudo-terminal.
class Terminal {
  public:
    explicit Terminal(const Server& server) {
        master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        grantpt(master_);
        unlockpt(master_);
        const std::string device = ptsname(master_);
        const std::string path = program("qmgr").string();
        std::vector<std::string> environment = {"PBS_HOME=" + server.home().string(), "TERM=dumb", "LC_ALL=C",
                                                "HOME=" + server.work().string(), "PATH=/usr/bin:/bin"};
        std::vector<char*> variables;
        variables.reserve(environment.size() + 1);
        for (std::string& variable : environment) variables.push_back(variable.data());
        variables.push_back(nullptr);
        std::string name = "qmgr";
        char* argv[] = {name.data(), nullptr};
        pid_ = fork();
        if (pid_ == 0) {
            setsid();
            const int fd = open(device.c_str(), O_RDWR);
            for (int to = 0; to < 3; ++to) dup2(fd, to);
            execve(path.c_str(), argv, variables.data());
            _exit(127);
        }
    }
    ~Terminal() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(master_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) {
        ASSERT_EQ(write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }
    // Returns the output since the last call, up to the prompt `text`. qmgr shows the prompt before editline
    // reads single keys, and a ^C in between would end qmgr. So also waits until editline reads single keys.
    // Fails after ten seconds.
    std::string until(const std::string& text) {
        std::string seen;
        const bool found = wait_for([&] {
            pollfd ready{master_, POLLIN, 0};
            while (!seen.ends_with(text) && poll(&ready, 1, 0) > 0) {
                char c = 0;
                if (read(master_, &c, 1) != 1) break;
                seen += c;
            }
            termios mode{};
            return seen.ends_with(text) && tcgetattr(master_, &mode) == 0 && (mode.c_lflag & ICANON) == 0;
        });
        EXPECT_TRUE(found) << "waited for '" << text << "', saw '" << seen << "'";
        return seen;
    }
    int end() {
        int status = -1;
        const bool ended = wait_for([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
        EXPECT_TRUE(ended);
        pid_ = ended ? -1 : pid_;
        return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    int master_ = -1;
    pid_t pid_ = -1;
};

TEST_F(Qmgr, TerminalCompletesWithTheTabKey) {
    NEEDS(same_network);
    Terminal terminal(server);
    terminal.until("Qmgr: ");
    terminal.type("crea\tpol\tnights\n");
    EXPECT_TRUE(wait_for([&] { return server.attribute("policy nights", "by_queue") == "True"; }));
    terminal.type("set policy ni\tby_q\t= F\t\n");
    // After completing a line, the terminal shows the line again with its prompt.
    EXPECT_TRUE(wait_for([&] { return server.attribute("policy nights", "by_queue") == "False"; }));
    terminal.type("quit\n");
    EXPECT_EQ(terminal.end(), 0);
}

TEST_F(Qmgr, TerminalLeavesNothingOfALineThatIsGivenUp) {
    NEEDS(same_network);
    Terminal terminal(server);
    terminal.until("Qmgr: ");
    terminal.type("create policy half\x03");
    terminal.until("Qmgr: ");
    terminal.type("create policy more \\\n");
    terminal.until("Qmgr< ");
    terminal.type("by_queue=False\x03");
    terminal.until("Qmgr: ");
    terminal.type("create policy whole\n");
    terminal.until("Qmgr: ");
    terminal.type("create policy long \\\n");
    terminal.until("Qmgr< ");
    terminal.type("by_queue=False\n");
    terminal.until("Qmgr: ");
    terminal.type("\x04");
    EXPECT_EQ(terminal.end(), 0);
    const std::string policies = server.qmgr("list policy by_queue").out;
    EXPECT_THAT(policies, HasSubstr("Policy whole\n"));
    EXPECT_THAT(policies, HasSubstr("Policy long\n    by_queue = False\n"));
    EXPECT_THAT(policies, Not(HasSubstr("half")));
    EXPECT_THAT(policies, Not(HasSubstr("more")));
}

TEST_F(Qmgr, TerminalKeepsAHistoryAfterEachLine) {
    NEEDS(same_network);
    {
        Terminal terminal(server);
        terminal.until("Qmgr: ");
        terminal.type("create policy p1\n");
        terminal.until("Qmgr: ");
        terminal.type("set policy p1 by_queue=False\n");
        terminal.until("Qmgr: ");
    }  // the destructor kills qmgr
    ASSERT_TRUE(server.configure({"set policy p1 by_queue=True"}));
    Terminal terminal(server);
    terminal.until("Qmgr: ");
    terminal.type("history\n");
    EXPECT_THAT(terminal.until("Qmgr: "), HasSubstr("    2  set policy p1 by_queue=False\r\n"));
    terminal.type("!2\n");
    terminal.until("Qmgr: ");
    EXPECT_EQ(server.attribute("policy p1", "by_queue"), "False");
}

}  // namespace
}  // namespace pbs::e2e
