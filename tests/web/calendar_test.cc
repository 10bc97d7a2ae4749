#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

TEST(WebCalendarTest, AMonthByDays) {
    const SmallSite site;
    const Answer answer = calendar_answer(site.view(), nullptr, "");
    EXPECT_TRUE(is_a(answer, "Calendar"));
    EXPECT_EQ("2026-11", answer.json["month"]);
    EXPECT_EQ("2026-12", answer.json["after"]);
    ASSERT_EQ(30, answer.json["days"].size());
    const Json& monday = answer.json["days"][22];
    EXPECT_EQ("2026-11-23", monday["date"]);
    EXPECT_EQ((Json{{"from", 480}, {"to", 1020}, {"phase", "prime"}}), monday["parts"][1]);
    EXPECT_EQ("Thanksgiving <b>", answer.json["days"][25]["name"]);
    EXPECT_EQ((Json{{{"from", 480}, {"to", 1020}}}), answer.json["queues"][0]["days"][22]);
    EXPECT_TRUE(answer.json["queues"][0]["days"][25].empty());
}

TEST(WebCalendarTest, ReservationsOfTheMonth) {
    const SmallSite site;
    StatusOf reservations("R1", {{"reserve_start", "1795440000"}, {"reserve_end", "1795450000"}});
    reservations.add("R2", {{"reserve_start", "1600000000"}, {"reserve_end", "1600000001"}});
    const Answer answer = calendar_answer(site.view(), reservations.get(), "2026-11");
    EXPECT_TRUE(is_a(answer, "Calendar"));
    ASSERT_EQ(1, answer.json["reservations"].size());
    EXPECT_EQ("R1", answer.json["reservations"][0]["id"]);
}

TEST(WebCalendarTest, AMonthThatIsNone) {
    const SmallSite site;
    for (const char* bad : {"2026", "2026-13", "never", "1600-12"})
        EXPECT_EQ(400, calendar_answer(site.view(), nullptr, bad).status) << bad;
}

}  // namespace
}  // namespace pbs::web
