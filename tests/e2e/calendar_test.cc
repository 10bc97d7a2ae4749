// Runs pbs_calendar with a running server.
#include <gmock/gmock.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using testing::HasSubstr;

class Calendar : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure(
            {"create time_window office rrule=\"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\", start_time=0800, "
             "end_time=1700, type=prime, applies_on_holidays=False",
             "create policy nights", "set sched default policy = \"default_policy,np:nights\"",
             "set server non_work_days = 12/25"}));
    }
    Output calendar(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "pbs_calendar");
        return server.command(arguments);
    }
    Server server;
};

TEST_F(Calendar, ListsThePoliciesThatListSchedWillShow) {
    NEEDS(injected_clock);
    const Output list = calendar({"list", "--from", "2026-11-23 10:00", "--to", "2026-11-24"});
    EXPECT_EQ(list.exit, 0) << list;
    EXPECT_THAT(list.out, HasSubstr("- Mon 2026-11-23 17:00:00   sched default: policy default_policy"));
    EXPECT_THAT(
        list.out,
        HasSubstr(" Mon 2026-11-23 17:00:00 - Tue 2026-11-24 00:00:00>  sched default: policy nights"));
    EXPECT_EQ(server.attribute("sched default", "next_policy_change"),
              "Mon Nov 23 17:00:00 2026 to nights, non-prime time");
}

TEST_F(Calendar, ImportShowsThenAddsHolidaysOnce) {
    server.put("holidays.ics",
               "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Neujahr\r\n"
               "DTSTART;VALUE=DATE:20270101\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
    const std::string file = (server.home() / "holidays.ics").string();
    const std::string before = server.attribute("server", "non_work_days");
    const Output shown = calendar({"import", file});
    EXPECT_EQ(shown.exit, 0) << shown;
    EXPECT_THAT(shown.out, HasSubstr("Fri 2027-01-01  Neujahr"));
    EXPECT_EQ(server.attribute("server", "non_work_days"), before);
    EXPECT_EQ(calendar({"import", file, "--apply"}).exit, 0);
    EXPECT_THAT(server.attribute("server", "non_work_days"), HasSubstr("DTSTART;VALUE=DATE:20270101"));
    const Output again = calendar({"import", file, "--apply"});
    EXPECT_THAT(again.out, HasSubstr("There already:"));
    EXPECT_THAT(calendar({"list", "--from", "2027-01-01", "--to", "2027-01-02"}).out,
                HasSubstr("non-work day"));
}

TEST_F(Calendar, ExportAndMonthWriteFiles) {
    const std::string ics = (server.work() / "c.ics").string();
    EXPECT_EQ(calendar({"export", ics, "--from", "2026-11-23", "--to", "2026-11-24"}).exit, 0);
    EXPECT_THAT(server.command({"cat", ics}).out, HasSubstr("DTSTART:20261123T080000Z"));
    const std::string svg = (server.work() / "m.svg").string();
    EXPECT_EQ(calendar({"month", "2026-11", "--svg", svg}).exit, 0);
    EXPECT_THAT(server.command({"cat", svg}).out, HasSubstr("</svg>"));
    EXPECT_THAT(calendar({"month", "2026-11"}).out,
                HasSubstr("Mon 23    ................##################"));
}

std::string event(const std::string& lines) {
    return "BEGIN:VEVENT\r\nUID:" + lines + "END:VEVENT\r\n";
}
std::string calendar_file(const std::string& events) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + events + "END:VCALENDAR\r\n";
}

TEST_F(Calendar, NamesOfHolidaysAreShownWhereverTheDayIs) {
    server.put(
        "h.ics",
        "\xEF\xBB\xBF" + calendar_file(event("1\r\nSUMMARY:Betriebs\x1b[5mferien <&>\r\nDESCRIPTION:\r\n"
                                             "DTSTART;VALUE=DATE:20261228\r\nDTEND;VALUE=DATE:20270101\r\n"
                                             "RRULE:FREQ=YEARLY\r\n") +
                                       event("2\r\nSUMMARY:zwei\r\nDTSTART;VALUE=DATE:20261207\r\n"
                                             "RRULE:FREQ=DAILY;COUNT=2\r\nRRULE:FREQ=MONTHLY;COUNT=2\r\n") +
                                       event("3\r\nSUMMARY:Fr\xFC"
                                             "hling\r\nDTSTART;VALUE=DATE:20261221\r\n")));
    const std::string file = (server.home() / "h.ics").string();
    const Output added = calendar({"import", file, "--apply"});
    EXPECT_EQ(added.exit, 0) << added;
    const std::string name = "Betriebs [5mferien <&>";
    EXPECT_THAT(server.qmgr("list server").out, HasSubstr("SUMMARY:" + name));
    EXPECT_THAT(
        calendar({"list", "--from", "2027-12-29", "--to", "2027-12-30"}).out,
        HasSubstr(" Wed 2027-12-29 00:00:00 - Thu 2027-12-30 00:00:00   non-work day: " + name + "\n"));
    const Output month = calendar({"month", "2026-12"});
    EXPECT_THAT(month.out, HasSubstr("Thu 31 *  ................................................  " + name));
    EXPECT_THAT(month.out, HasSubstr("Tue 08 *  ................................................  zwei"));
    EXPECT_THAT(calendar({"month", "2027-01"}).out,
                HasSubstr("Thu 07 *  ................................................  zwei"));
    EXPECT_THAT(calendar({"list", "--from", "2026-12-21", "--to", "2026-12-22", "--json"}).out,
                HasSubstr("\"name\": \"Fr\xC3\xBChling\""));
    const std::string svg = (server.work() / "m.svg").string();
    EXPECT_EQ(calendar({"month", "2026-12", "--svg", svg}).exit, 0);
    EXPECT_THAT(server.command({"cat", svg}).out,
                HasSubstr("; non-work day: Betriebs [5mferien &lt;&amp;&gt;</title>"));
    EXPECT_THAT(calendar({"import", file, "--apply"}).out, HasSubstr("There already:"));
}

TEST_F(Calendar, WindowsThatHolidaysKeepApartStayApart) {
    ASSERT_TRUE(server.configure(
        {"create queue workq queue_type=execution, enabled=True, started=True",
         "create time_window xmas rrule='FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25', start_time=1000, "
         "end_time=1200",
         "create time_window others rrule=FREQ=DAILY, start_time=2000, end_time=2100, only_on_holidays=True",
         "set queue workq time_window = 'office,xmas,others'"}));
    const std::string overlap =
        "time_windows office and xmas of queue workq overlap, first on 2026-12-25 10:00";
    const auto refused = [&](const Output& done) {
        EXPECT_NE(done.exit, 0);
        EXPECT_THAT(done.err, HasSubstr(overlap));
    };
    refused(server.qmgr("unset server non_work_days"));
    refused(server.qmgr("set server non_work_days = 12/26"));
    refused(server.qmgr("set time_window office applies_on_holidays = True"));
    // A rollback or an import must not make windows overlap, either.
    ASSERT_TRUE(server.configure({"set queue workq time_window = 'office,others'",
                                  "set server non_work_days = 12/26", "unset queue workq time_window"}));
    const std::string history = server.command({"pbs_config", "history"}).out;
    const auto revision_of = [&](const std::string& change) {
        const std::size_t line = history.rfind('\n', history.find(change)) + 1;
        return std::to_string(std::stoi(history.substr(line)));
    };
    const std::string all_three = revision_of("set queue workq time_window = \"office,xmas,others\"");
    refused(server.command({"pbs_config", "rollback", all_three, "--object", "queue workq"}));
    EXPECT_EQ(server.attribute("queue workq", "time_window"), "(none)");
    server.put("both.json", R"({"format": 1, "queue": {"workq": {"time_window": ["office", "xmas"]}}})");
    const std::string file = (server.home() / "both.json").string();
    refused(server.command({"pbs_config", "import", file}));
    EXPECT_EQ(server.command({"pbs_config", "rollback", all_three}).exit, 0);
    EXPECT_EQ(server.attribute("queue workq", "time_window"), "office,xmas,others");
    EXPECT_THAT(
        calendar({"list", "--from", "2026-12-24 20:00", "--to", "2026-12-26"}).out,
        HasSubstr("Fri 2026-12-25 20:00:00 - Fri 2026-12-25 21:00:00   time_window others: queues workq"));
}

TEST_F(Calendar, QueuesPoliciesAndShortWindowsAreDrawn) {
    ASSERT_TRUE(server.configure(
        {"create queue workq queue_type=execution, enabled=True, started=True",
         "create time_window blink rrule='FREQ=WEEKLY;BYDAY=SA', start_time=12:10:00, end_time=12:10:01, "
         "type=dedicated",
         "create time_window late rrule=FREQ=DAILY, start_time=2000, end_time=2130",
         "set queue workq time_window = late"}));
    const Output month = calendar({"month"});
    EXPECT_THAT(month.out, HasSubstr("November 2026"));
    EXPECT_THAT(month.out, HasSubstr("Sat 28    ........................D......................."));
    EXPECT_THAT(month.out,
                HasSubstr("sched default: policy default_policy in prime time, nights in non-prime time"));
    EXPECT_THAT(month.out, HasSubstr("queue workq (time_window late):\n  20:00-21:30  on 1-30\n"));
    const Output svg = calendar({"month", "--svg", "-"});
    EXPECT_THAT(svg.out, HasSubstr("2026-11-28 12:10 to 12:11: dedicated time"));
    EXPECT_THAT(svg.out, HasSubstr("<title>2026-11-28 20:00 to 21:30: queue workq (late)</title>"));
}

TEST_F(Calendar, GoesByTheServersClock) {
    NEEDS(injected_clock);
    EXPECT_THAT(calendar({"list"}).out, HasSubstr(", Mon 2026-11-23 10:00:"));
    server.set_clock(kMonday10 + 40 * 86400);
    EXPECT_THAT(calendar({"list"}).out, HasSubstr(", Sat 2027-01-02 10:00:"));
    EXPECT_THAT(calendar({"month"}).out, HasSubstr("January 2027"));
}

TEST_F(Calendar, WhatIsNoCalendarFileAddsNothing) {
    const std::string before = server.attribute("server", "non_work_days");
    server.put("wrong.ics", calendar_file(event("1\r\nDTSTART;VALUE=DATE:20270101\r\n") +
                                          event("2\r\nDTSTART;VALUE=DATE:2027\x1b[2J\r\n")));
    const std::string wrong = (server.home() / "wrong.ics").string();
    for (const std::string& file :
         {server.home().string(), wrong, std::string("/dev/null"), (server.home() / "none.ics").string()}) {
        const Output refused = calendar({"import", file, "--apply"});
        EXPECT_EQ(refused.exit, 2) << refused;
        EXPECT_THAT(refused.err, HasSubstr("pbs_calendar: " + file + ": "));
        EXPECT_EQ(refused.err.find('\x1b'), std::string::npos);
    }
    server.put("impossible.ics", calendar_file(event("1\r\nDTSTART;VALUE=DATE:20270101\r\n") +
                                               event("2\r\nDTSTART;VALUE=DATE:20270230\r\n")));
    const std::string impossible = (server.home() / "impossible.ics").string();
    const Output refused = calendar({"import", impossible, "--apply"});
    EXPECT_EQ(refused.exit, 2) << refused;
    EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("pbs_calendar: " + impossible + ": line "),
                                            HasSubstr("'20270230' in the DTSTART of a VEVENT is not valid")));
    EXPECT_EQ(server.attribute("server", "non_work_days"), before);
}

TEST_F(Calendar, WrongInputIsNamedAndFails) {
    const Output time = calendar({"list", "--from", "tomorrow"});
    EXPECT_EQ(time.exit, 2);
    EXPECT_THAT(time.err, HasSubstr("bad time 'tomorrow'"));
    const Output order = calendar({"list", "--from", "2026-11-24", "--to", "2026-11-23"});
    EXPECT_EQ(order.exit, 2);
    EXPECT_THAT(calendar({"list", "--to", "9999-01-01"}).err, HasSubstr("in the years 1601 to 9998"));
    EXPECT_THAT(calendar({"month", "1600-12"}).err, HasSubstr("in the years 1601 to 9998"));
    EXPECT_THAT(calendar({"list", "--to", "2127-01-01"}).err, HasSubstr("more than 100 years"));
    EXPECT_THAT(calendar({"list", "--from", "1650-01-01", "--to", "1650-01-02"}).out,
                HasSubstr("Sat 1650-01-01"));
    const Output file = calendar({"export", "/no/such/folder/c.ics"});
    EXPECT_EQ(file.exit, 2);
    EXPECT_THAT(file.err, HasSubstr("/no/such/folder/c.ics"));
    EXPECT_EQ(calendar({"bogus"}).exit, 1);
    EXPECT_EQ(calendar({}).exit, 1);
}

TEST_F(Calendar, OnlyManagersAddHolidays) {
    const auto somebody = other();
    if (!somebody) GTEST_SKIP() << "needs root, to be another user";
    const std::string file = (server.work() / "h.ics").string();
    ASSERT_EQ(
        server
            .command(
                {"sh", "-c",
                 "printf 'BEGIN:VCALENDAR\\r\\nBEGIN:VEVENT\\r\\nUID:1\\r\\nDTSTART;VALUE=DATE:20270101\\r\\n"
                 "END:VEVENT\\r\\nEND:VCALENDAR\\r\\n' > " +
                     file + "; chmod 644 " + file})
            .exit,
        0);
    const Output refused = server.command_as(*somebody, {"pbs_calendar", "import", file, "--apply"});
    EXPECT_EQ(refused.exit, 2) << refused;
    EXPECT_THAT(refused.err, HasSubstr("set server non_work_days"));
    EXPECT_EQ(server.command_as(*somebody, {"pbs_calendar", "list"}).exit, 0);
}

}  // namespace
}  // namespace pbs::e2e
