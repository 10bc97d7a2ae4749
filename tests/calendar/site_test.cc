#include "tools/calendar/site.h"

#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Site, HasTheServersWindowsPoliciesAndZone) {
    const Site site = site_of(answers());
    EXPECT_EQ(site.zone.name(), "Europe/Vienna");
    EXPECT_FALSE(site.zone_assumed);
    ASSERT_EQ(site.windows.size(), 3U);  // the window without a rule isn't included, as it never opens
    EXPECT_EQ(site.windows[0].name, "dark");
    EXPECT_THAT(site.windows[0].queues, ElementsAre("night"));
    EXPECT_TRUE(site.prime_switches);
    EXPECT_TRUE(site.prime.contains(utc("2026-11-23 07:00")));  // 08:00 in Vienna
    EXPECT_TRUE(site.dedicated.contains(utc("2026-12-01 11:00")));
    ASSERT_EQ(site.scheds.size(), 2U);
    EXPECT_EQ(site.scheds[0].slots.non_prime, "nights");
    EXPECT_TRUE(site.scheds[1].slots.empty());
    EXPECT_FALSE(site.prime.contains(utc("2026-12-25 10:00")));
}

TEST(Site, AnUnknownZoneIsTheMachinesOwnAndSaidToBe) {
    Answers a = answers();
    a.server.attributes.erase("time_zone");
    EXPECT_TRUE(site_of(a).zone_assumed);
    a.server.attributes["time_zone"] = "Mars/Olympus";
    EXPECT_TRUE(site_of(a).zone_assumed);
}

TEST(Site, PrimeHoursOfAnOriginPolicySwitchNoPolicy) {
    Answers a = answers();
    a.time_windows.clear();
    a.policies[0].attributes["prime_time_start"] = "06:00:00";
    a.policies[0].attributes["prime_time_end"] = "18:00:00";
    const Site site = site_of(a);
    EXPECT_FALSE(site.prime_switches);
    EXPECT_TRUE(site.prime.contains(utc("2026-11-23 05:00")));
    EXPECT_FALSE(site.prime.contains(utc("2026-11-22 12:00")));  // a Sunday
}

TEST(Site, WhatMakesNoSenseIsNamed) {
    Answers a = answers();
    a.time_windows[0].attributes["start_time"] = "late";
    EXPECT_THAT(make_site(a).error(), HasSubstr("time_window dark: "));
    a = answers();
    a.time_windows[0].attributes["rrule"] = "FREQ=OFTEN";
    EXPECT_THAT(make_site(a).error(), HasSubstr("dark"));
    a = answers();
    a.server.attributes["non_work_days"] = "13/01";
    EXPECT_THAT(make_site(a).error(), HasSubstr("13/01"));
}

}  // namespace
}  // namespace pbs::calendar::test
