// qmgr against a real server: what it prints makes the same objects again, its exit statuses, its ways of
// naming objects, PP-748's commands as a shell gives them, and its terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <random>

#include <fmt/format.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::EndsWith;
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

// Reads what one server printed into a new one, which then prints the same.
void expect_round_trip(const Server& first, const std::vector<std::string>& what) {
    Server second;
    ASSERT_TRUE(second.start());
    for (const std::string& one : what) {
        // The folders of schedulers are in the server's home.
        const std::string text = replaced(printed(first, one), first.home(), second.home());
        const Output done = read_in(second, text, {"-a"});
        EXPECT_EQ(done.exit, 0) << done << text;
        EXPECT_EQ(printed(second, one), text);
    }
}

class Qmgr : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(server.start()); }
    Server server;
};

TEST_F(Qmgr, PrintOfANewServerIsReadBackTheSame) {
    expect_round_trip(server, {"server"});
}

TEST_F(Qmgr, PrintOfEveryKindOfObjectIsReadBackTheSame) {
    ASSERT_TRUE(server.configure({
        "create resource colour type=string, flag=h",
        "create resource tags type=string_array, flag=h",
        "create resource scratch type=size, flag=nh",
        "create resource licences type=long, flag=q",
        "create time_window office rrule=\"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\", start_time=0600, "
        "end_time=18:00",
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
        "set policy p1 server_dyn_res=\"scratch !/bin/get_it 'a b'\"",
        "set policy p1 job_sort_formula=\"ncpus * (walltime + 1)\"",
        "set server managers += \"alice@*,carol@x.org\"",
        "set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"",
        "set server non_work_days += 12/25",
        "set server non_work_days += \"FREQ=WEEKLY;BYDAY=FR,SA;INTERVAL=2\"",
        "set server default_queue=workq, resources_available.licences=5",
        "unset server log_events, resources_default.ncpus",
        "create sched s2 partition=part2",
        "set sched s2 policy=\"default_policy,p:p1\"",
        "unset sched s2 scheduler_iteration",
        "create node n1 resources_available.ncpus=4, resources_available.tags=\"a,b\", queue=workq",
        "unset node n1 resources_available.mem",
        "set node n1 state=offline",
        "create node n2 resources_available.colour=\"it's\"",
    }));
    expect_round_trip(server, {"server", "node @default"});
}

TEST_F(Qmgr, PrintUnsetsThePoliciesOfTheDefaultScheduler) {
    ASSERT_TRUE(server.configure({"unset sched default policy"}));
    EXPECT_THAT(printed(server, "sched"), HasSubstr("unset sched policy\n"));
    expect_round_trip(server, {"server"});
}

// Texts made of what quoting has to cope with, in the attributes that take any text.
TEST_F(Qmgr, PrintOfAwkwardTextsIsReadBackTheSame) {
    const std::vector<std::string> pieces = {
        "a",        "'",    "\"", ",",  "; list server", " #", "\\", " ", "=", "b = c, d = e", "[", "]",
        "\xc3\xbc", "\xe9", "!",  "''", "\"\"",          "x"};
    std::mt19937 random(748);
    const auto text = [&] {
        std::string value = "t";  // PBS takes an empty text for none
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
    EXPECT_EQ(done.err, "");
    expect_round_trip(server, {"server", "node @default"});
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

}  // namespace
}  // namespace pbs::e2e
