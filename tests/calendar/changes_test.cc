#include "tools/calendar/changes.h"

#include <nlohmann/json.hpp>

#include "rrule/icalendar.h"
#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::vector<Span>& list, Kind kind) {
    std::vector<std::string> lines;
    for (const Span& span : list) {
        if (span.kind != kind) continue;
        lines.push_back((span.earlier ? "<" : "") +
                        rrule::test::text(rrule::Zone::utc().local(span.when.start)) + " " +
                        rrule::test::text(rrule::Zone::utc().local(span.when.end)) +
                        (span.later ? "> " : " ") + span.name + " " + span.detail);
    }
    return lines;
}

// The day that the tests show: Tuesday, 1 December 2026. Prime time is from 07 to 16 UTC, dedicated time from
// 11 to 17, and the window `dark` is open until 05 and from 21.
const rrule::Instant kFrom = utc("2026-12-01 00:00");
const rrule::Instant kTo = utc("2026-12-02 00:00");

TEST(Changes, PoliciesFollowPrimeAndDedicatedTime) {
    const auto list = spans(site_of(answers()), kFrom, kTo);
    // In dedicated time, the policy for prime time (`p:`) would be in force. As the scheduler has none, its
    // policy for all time is in force.
    EXPECT_THAT(lines_of(list, Kind::policy),
                ElementsAre("<2026-12-01 00:00 2026-12-01 07:00 default nights",
                            "2026-12-01 07:00 2026-12-01 17:00 default days",
                            "2026-12-01 17:00 2026-12-02 00:00> default nights"));
    EXPECT_THAT(lines_of(list, Kind::prime), ElementsAre("2026-12-01 07:00 2026-12-01 16:00  "));
    EXPECT_THAT(lines_of(list, Kind::dedicated), ElementsAre("2026-12-01 11:00 2026-12-01 17:00  "));
}

TEST(Changes, WindowsAreCutAtTheRangeAndMarked) {
    const auto list = spans(site_of(answers()), kFrom, kTo);
    EXPECT_THAT(lines_of(list, Kind::window), ElementsAre("<2026-12-01 00:00 2026-12-01 05:00 dark night",
                                                          "2026-12-01 07:00 2026-12-01 16:00 office ",
                                                          "2026-12-01 11:00 2026-12-01 17:00 maint ",
                                                          "2026-12-01 21:00 2026-12-02 00:00> dark night"));
}

TEST(Changes, ReservationsAreCutAtTheRangeAndExportedWhole) {
    Answers a = answers();
    a.reservations = {reservation("R12.svr", "course", "2", utc("2026-11-30 21:00"), utc("2026-12-01 05:00")),
                      reservation("R13.svr", "NULL", "10", utc("2026-12-01 21:00"), utc("2026-12-02 00:00"))};
    EXPECT_THAT(lines_of(spans(site_of(a), kFrom, kTo), Kind::reservation),
                ElementsAre("<2026-12-01 00:00 2026-12-01 05:00 R12.svr (course) ",
                            "2026-12-01 21:00 2026-12-02 00:00 R13.svr "));
    EXPECT_THAT(
        to_icalendar(site_of(a), kFrom, kTo, kFrom),
        testing::AllOf(HasSubstr("SUMMARY:reservation R12.svr (course)"), HasSubstr("20261130T210000Z")));
}

TEST(Changes, NonWorkDaysAreDaysOfTheServersZone) {
    const auto list = spans(site_of(answers()), utc("2026-12-25 10:00"), utc("2026-12-27 00:00"));
    EXPECT_THAT(lines_of(list, Kind::non_work_day), ElementsAre("<2026-12-25 10:00 2026-12-25 23:00  "));
    EXPECT_TRUE(lines_of(list, Kind::prime).empty());
}

TEST(Changes, NamesOfNonWorkDaysAreTold) {
    Answers a = answers();
    a.server.attributes["non_work_days"] += " SUMMARY:Christmas\\, Day";
    const Site site = site_of(a);
    const auto from = utc("2026-12-25 10:00");
    const auto to = utc("2026-12-26 10:00");
    const auto list = spans(site, from, to);
    EXPECT_THAT(to_text(site, list, from, to), HasSubstr("non-work day: Christmas, Day\n"));
    EXPECT_THAT(to_json(site, list, from, to), HasSubstr("\"name\": \"Christmas, Day\""));
    EXPECT_THAT(to_icalendar(site, from, to, from), HasSubstr("SUMMARY:Christmas\\, Day\r\n"));
}

TEST(Changes, AReadingThatComesTwiceHasItsOffset) {
    const rrule::Zone vienna = rrule::test::zone("Europe/Vienna");
    EXPECT_EQ(local_text(vienna, utc("2026-10-25 00:30")), "Sun 2026-10-25 02:30:00+02:00");
    EXPECT_EQ(local_text(vienna, utc("2026-10-25 01:30")), "Sun 2026-10-25 02:30:00+01:00");
    EXPECT_EQ(local_text(vienna, utc("2026-10-25 02:00")), "Sun 2026-10-25 03:00:00");
    EXPECT_EQ(local_text(vienna, utc("2026-10-24 23:59")), "Sun 2026-10-25 01:59:00");
}

TEST(Changes, AllYearsOfTheCalendarAreRight) {
    EXPECT_EQ(local_text(rrule::Zone::utc(), utc("1601-01-01")), "Mon 1601-01-01 00:00:00");
    EXPECT_EQ(local_text(rrule::Zone::utc(), utc("2600-01-01 10:00")), "Wed 2600-01-01 10:00:00");
    EXPECT_EQ(local_text(rrule::Zone::utc(), utc("9998-12-31")), "Thu 9998-12-31 00:00:00");
}

TEST(Changes, TextAndJsonTellTheSame) {
    const Site site = site_of(answers());
    const auto list = spans(site, kFrom, kTo);
    const std::string text = to_text(site, list, kFrom, kTo);
    EXPECT_THAT(
        text,
        HasSubstr("<Tue 2026-12-01 01:00:00 - Tue 2026-12-01 08:00:00   sched default: policy nights\n"));
    EXPECT_THAT(text, HasSubstr("time_window dark: queues night\n"));
    EXPECT_THAT(text, HasSubstr("(Europe/Vienna)"));
    const auto json = nlohmann::json::parse(to_json(site, list, kFrom, kTo));
    ASSERT_EQ(json["spans"].size(), list.size());
    EXPECT_EQ(json["spans"][0]["kind"], "policy");
    EXPECT_EQ(json["spans"][0]["policy"], "nights");
    EXPECT_EQ(json["spans"][0]["from"], "2026-12-01T00:00:00Z");
    EXPECT_EQ(json["spans"][0]["local_from"], "Tue 2026-12-01 01:00:00");
    EXPECT_EQ(json["spans"][0]["began_earlier"], true);
}

TEST(Changes, AnEmptyRangeHasNothing) {
    const Site site = site_of(answers());
    EXPECT_TRUE(spans(site, kFrom, kFrom).empty());
    EXPECT_TRUE(spans(site, kTo, kFrom).empty());
    EXPECT_THAT(to_text(site, {}, kFrom, kFrom), HasSubstr("Nothing."));
}

TEST(Changes, ExportedOpeningsAreWholeAndReadableAgain) {
    const Site site = site_of(answers());
    const std::string text = to_icalendar(site, utc("2026-12-25 00:00"), utc("2026-12-26 00:00"), kFrom);
    // `dark` is already open when the range begins. So its event begins before the range, at 21:00 on the day
    // before.
    EXPECT_THAT(text, HasSubstr("DTSTART:20261224T210000Z\r\nDTEND:20261225T050000Z\r\n"));
    EXPECT_THAT(text, Not(HasSubstr("SUMMARY:office")));
    const auto again = rrule::read_holidays(text, site.zone);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->holidays.size(), 1U);
    EXPECT_EQ(again->holidays[0].entry, "12/25/2026 SUMMARY:non-work day");
}

TEST(Changes, AnOpeningWithoutAnEndIsExportedAsTheRangeCutsIt) {
    Answers a = answers();
    a.time_windows = {{"always", {{"rrule", "FREQ=DAILY"}}}};
    const std::string text = to_icalendar(site_of(a), utc("2026-12-24"), utc("2026-12-27"), kFrom);
    EXPECT_THAT(text, HasSubstr("DTSTART:20261224T000000Z\r\nDTEND:20261227T000000Z\r\n"));
    EXPECT_THAT(text, HasSubstr("UID:always-"));
}

}  // namespace
}  // namespace pbs::calendar::test
