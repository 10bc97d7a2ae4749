#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

TEST(QuotasTest, EachCounterHasItsLimitAndItsPart) {
    const SmallSite site;
    StatusOf use("q1", {{"rule", "guests"},
                        {"of", "bob", "users"},
                        {"used", "3gb", "mem"},
                        {"limit", "4gb", "mem"},
                        {"enabled", "True"},
                        {"in_force", "True"}});
    use.add("q2", {{"rule", "all"}, {"used", "2", "jobs"}, {"limit", "-", "jobs"}, {"enabled", "True"}});
    const std::vector<std::pair<std::string, const batch_status*>> counters{{"default", use.get()},
                                                                            {"other", nullptr}};
    const Answer answer = quotas_answer(site.view(), counters);
    EXPECT_TRUE(is_a(answer, "Quotas"));
    const Json& list = answer.json["counters"];
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0]["of"], (Json{{"users", "bob"}}));
    EXPECT_EQ(list[0]["part"], 0.75);
    EXPECT_EQ(list[0]["sched"], "default");
    EXPECT_EQ(list[1]["of"], Json::object());
    EXPECT_TRUE(list[1]["part"].is_null());
    EXPECT_EQ(list[1]["in_force"], false);
}

}  // namespace
}  // namespace pbs::web
