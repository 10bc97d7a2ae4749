// Tests the occurrences of standing reservations.
#include "server_plugin/host/state/occurrences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kNoon = 1795435200;  // Monday 2026-11-23 12:00 UTC
constexpr int64_t kHour = 3600;
constexpr int64_t kDay = 24 * kHour;

Reservation asked(const std::string& rule, int64_t start = kNoon, int64_t duration = 2 * kHour,
                  const std::string& zone = "UTC") {
    Reservation reservation;
    set_attribute(reservation, "reserve_start", std::to_string(start));
    set_attribute(reservation, "reserve_end", std::to_string(start + duration));
    set_attribute(reservation, "reserve_standing", "1");
    set_attribute(reservation, "reserve_rrule", rule);
    if (!zone.empty()) set_attribute(reservation, "reserve_timezone", zone);
    return reservation;
}

int refusal(Reservation reservation) {
    const auto settled = settle_occurrences(reservation);
    return settled ? 0 : settled.error().code;
}

TEST(Occurrences, ARuleGivesAReservationItsOccurrences) {
    Reservation reservation = asked("FREQ=DAILY;COUNT=3");
    ASSERT_TRUE(settle_occurrences(reservation));
    EXPECT_TRUE(is_standing(reservation));
    EXPECT_EQ(reservation.start(), kNoon);
    EXPECT_EQ(reservation.end(), kNoon + 2 * kHour);
    EXPECT_EQ(reservation.attributes.text("reserve_count"), "3");
    EXPECT_EQ(reservation.attributes.text("reserve_index"), "1");
    ASSERT_THAT(reservation.later, SizeIs(2));
    EXPECT_EQ(reservation.later[1].start, kNoon + 2 * kDay);
    EXPECT_EQ(reservation.later[1].end, kNoon + 2 * kDay + 2 * kHour);
}

TEST(Occurrences, TheFirstIsWhereTheRuleMatches) {
    Reservation reservation = asked("FREQ=WEEKLY;BYDAY=WE;COUNT=2");
    ASSERT_TRUE(settle_occurrences(reservation));
    EXPECT_EQ(reservation.start(), kNoon + 2 * kDay);
    EXPECT_EQ(reservation.end(), kNoon + 2 * kDay + 2 * kHour);
    ASSERT_THAT(reservation.later, SizeIs(1));
    EXPECT_EQ(reservation.later[0].start, kNoon + 9 * kDay);
}

TEST(Occurrences, OneIsAnAdvanceReservation) {
    Reservation reservation = asked("FREQ=DAILY;COUNT=1");
    ASSERT_TRUE(settle_occurrences(reservation));
    EXPECT_FALSE(is_standing(reservation));
    EXPECT_THAT(reservation.later, IsEmpty());
    Reservation without;
    ASSERT_TRUE(settle_occurrences(without));
    EXPECT_FALSE(is_standing(without));
    EXPECT_EQ(without.attributes.text("reserve_count"), "1");
}

// In Berlin the day 2027-03-28 has 23 hours. So an occurrence of 24 hours is cut where the next one begins.
TEST(Occurrences, GiveWayToTheNextOneWhereADayIsShorter) {
    constexpr int64_t kNine = 1806134400;  // 2027-03-27 09:00 in Berlin
    Reservation reservation = asked("FREQ=DAILY;COUNT=3", kNine, kDay, "Europe/Berlin");
    ASSERT_TRUE(settle_occurrences(reservation));
    EXPECT_EQ(reservation.end(), kNine + 23 * kHour);
    EXPECT_EQ(reservation.later[0].start, kNine + 23 * kHour);
    EXPECT_EQ(reservation.later[0].end, kNine + 47 * kHour);
}

TEST(Occurrences, AreBoundedAndShortEnough) {
    EXPECT_EQ(refusal(asked("FREQ=DAILY;COUNT=366")), 0);
    EXPECT_EQ(refusal(asked("FREQ=DAILY;COUNT=367")), PBSE_BAD_RRULE_SYNTAX);
    EXPECT_EQ(refusal(asked("FREQ=HOURLY;UNTIL=99991231")), PBSE_BAD_RRULE_SYNTAX);
    EXPECT_EQ(refusal(asked("FREQ=DAILY")), PBSE_BAD_RRULE_SYNTAX2);
    EXPECT_EQ(refusal(asked("nonsense")), PBSE_BAD_RRULE_SYNTAX);
    EXPECT_EQ(refusal(asked("FREQ=DAILY;UNTIL=20000101")), PBSE_BADTSPEC);
    EXPECT_EQ(refusal(asked("FREQ=DAILY;COUNT=2", kNoon, kHour, "")), PBSE_BAD_ICAL_TZ);
    EXPECT_EQ(refusal(asked("FREQ=DAILY;COUNT=2", kNoon, kHour, "Nowhere")), PBSE_BAD_ICAL_TZ);
    EXPECT_EQ(refusal(asked("FREQ=MINUTELY;COUNT=2", kNoon, 61)), PBSE_BAD_RRULE_MINUTELY);
    EXPECT_EQ(refusal(asked("FREQ=MINUTELY;COUNT=2", kNoon, 60)), 0);
    EXPECT_EQ(refusal(asked("FREQ=HOURLY;COUNT=2", kNoon, kHour + 1)), PBSE_BAD_RRULE_HOURLY);
    EXPECT_EQ(refusal(asked("FREQ=HOURLY;COUNT=2", kNoon, kHour)), 0);
    EXPECT_EQ(refusal(asked("FREQ=DAILY;INTERVAL=2;COUNT=2", kNoon, kDay + 1)), PBSE_BAD_RRULE_DAILY);
    EXPECT_EQ(refusal(asked("FREQ=WEEKLY;COUNT=2", kNoon, 7 * kDay + 1)), PBSE_BAD_RRULE_WEEKLY);
    EXPECT_EQ(refusal(asked("FREQ=MONTHLY;COUNT=2", kNoon, 30 * kDay + 1)), PBSE_BAD_RRULE_MONTHLY);
    EXPECT_EQ(refusal(asked("FREQ=YEARLY;COUNT=2", kNoon, 365 * kDay + 1)), PBSE_BAD_RRULE_YEARLY);
    EXPECT_EQ(refusal(asked("FREQ=WEEKLY;BYDAY=MO,TU;COUNT=4", kNoon, kDay + 1)), PBSE_BADTSPEC);
    EXPECT_EQ(refusal(asked("FREQ=WEEKLY;BYDAY=MO,TU;COUNT=4", kNoon, kDay)), 0);
}

TEST(Occurrences, OutliveTheProcess) {
    Reservation reservation = asked("FREQ=DAILY;COUNT=4");
    ASSERT_TRUE(settle_occurrences(reservation));
    set_attribute(reservation, "reserve_index", "2");
    Reservation loaded{1, "S1.server", reservation.attributes};
    load_occurrences(loaded, State());
    ASSERT_THAT(loaded.later, SizeIs(2));
    EXPECT_EQ(loaded.later[0].start, kNoon + 2 * kDay);
    EXPECT_EQ(loaded.later[1].start, kNoon + 3 * kDay);
    // The limit on occurrences also holds for a count in the database, which anybody may have written.
    set_attribute(loaded, "reserve_count", "1000000000");
    load_occurrences(loaded, State());
    EXPECT_LE(loaded.later.size(), kMostOccurrences);
    set_attribute(loaded, "reserve_timezone", "Nowhere");
    load_occurrences(loaded, State());
    EXPECT_THAT(loaded.later, IsEmpty());
}

}  // namespace
}  // namespace pbs::host
