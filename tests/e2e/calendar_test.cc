// pbs_calendar against a real server.
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

TEST_F(Calendar, WrongInputIsNamedAndFails) {
    const Output time = calendar({"list", "--from", "tomorrow"});
    EXPECT_EQ(time.exit, 2);
    EXPECT_THAT(time.err, HasSubstr("bad time 'tomorrow'"));
    const Output order = calendar({"list", "--from", "2026-11-24", "--to", "2026-11-23"});
    EXPECT_EQ(order.exit, 2);
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
