// A site for tests of calendars, with prime time on working days, a monthly maintenance, and a queue that is
// open at night.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/rrule/support.h"
#include "tools/calendar/site.h"

namespace pbs::calendar::test {

using rrule::test::day;
using rrule::test::local;
using rrule::test::utc;

inline Answers answers() {
    Answers a;
    a.server = {"svr",
                {{"time_zone", "Europe/Vienna"}, {"non_work_days", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25"}}};
    a.scheds = {{"default", {{"policy", "days,np:nights"}, {"scheduling", "True"}}}, {"second", {}}};
    a.queues = {{"night", {{"time_window", "dark"}}}, {"open", {{"Priority", "10"}}}};
    a.policies = {{"days", {{"by_queue", "True"}}}, {"nights", {}}};
    a.time_windows = {
        {"dark", {{"rrule", "FREQ=DAILY"}, {"start_time", "22:00:00"}, {"end_time", "06:00:00"}}},
        {"maint",
         {{"rrule", "FREQ=MONTHLY;BYDAY=1TU"},
          {"start_time", "12:00:00"},
          {"end_time", "18:00:00"},
          {"type", "dedicated"}}},
        {"never", {{"start_time", "06:00:00"}}},
        {"office",
         {{"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
          {"start_time", "08:00:00"},
          {"end_time", "17:00:00"},
          {"type", "prime"},
          {"applies_on_holidays", "False"}}}};
    return a;
}

inline ObjectText reservation(const std::string& id, const std::string& name, const std::string& state,
                              rrule::Instant start, rrule::Instant end) {
    return {id,
            {{"Reserve_Name", name},
             {"reserve_state", state},
             {"reserve_start", std::to_string(start.time_since_epoch().count())},
             {"reserve_end", std::to_string(end.time_since_epoch().count())}}};
}

inline Site site_of(const Answers& a) {
    auto made = make_site(a);
    EXPECT_TRUE(made) << (made ? "" : made.error());
    return made.value_or(Site{});
}

}  // namespace pbs::calendar::test
