#include "migrate/current_usage.h"

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(CurrentUsage, TheExampleOfTheGuide) {
    const auto file = parse_current_usage("smithj g10003 15 203.587\ngilbert g10003 1 31.192", "current");
    ASSERT_THAT(texts(file.mistakes), testing::IsEmpty());
    ASSERT_EQ(file.uses.size(), 2U);
    EXPECT_EQ(file.uses[0].jobs, 15);
    EXPECT_THAT(file.groups(), ElementsAre(Pair("g10003", testing::DoubleNear(234.779, 1e-9))));
}

TEST(CurrentUsage, AllMistakesAreReported) {
    const auto file = parse_current_usage("a b 1\na b many 2\na b 1 lots\na b 1 2 3\n", "current");
    EXPECT_THAT(texts(file.mistakes), ElementsAre(HasSubstr("current:1:5: expected a user, a group"),
                                                  HasSubstr("current:2:5: 'many' is no number of jobs"),
                                                  HasSubstr("current:3:7: 'lots' are no node-hours"),
                                                  HasSubstr("current:4:9: expected a user, a group")));
}

}  // namespace
}  // namespace pbs::migrate::test
