#include "migrate/decay_usage.h"

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DecayUsage, AFileOfTheScheduler) {
    const auto file =
        parse_decay_usage("Sat\nroot:root 1.000\ng1:alice 12.345\r\n\ng2:bob 0.001", "decay_usage");
    ASSERT_THAT(texts(file.mistakes), testing::IsEmpty());
    ASSERT_EQ(file.users.size(), 3U);
    EXPECT_EQ(file.users[1].group, "g1");
    EXPECT_EQ(file.users[1].user, "alice");
    EXPECT_EQ(file.users[1].amount, 12.345);
    EXPECT_EQ(file.users[2].line, 5);
}

TEST(DecayUsage, TheLastLineOfAUserCounts) {
    const auto file = parse_decay_usage("g:a 1\ng:a 2\n", "decay_usage");
    ASSERT_EQ(file.users.size(), 1U);
    EXPECT_EQ(file.users[0].amount, 2);
    EXPECT_THAT(file.notes, ElementsAre("decay_usage:2: g:a is in line 1 already, which doesn't count"));
}

TEST(DecayUsage, AllMistakesAreReported) {
    const auto file =
        parse_decay_usage("Sat\nSun\nalice 1\ng: 1\ng:a lots\ng:b -1\ng:c 1 2\n", "decay_usage");
    EXPECT_THAT(texts(file.mistakes),
                ElementsAre(HasSubstr("decay_usage:2:1: expected a group and a user"),
                            HasSubstr("decay_usage:3:1: 'alice' is not a group and a user"),
                            HasSubstr("decay_usage:4:1: 'g:' is not a group and a user"),
                            HasSubstr("decay_usage:5:5: g:a: 'lots' is no amount"),
                            HasSubstr("decay_usage:6:5: g:b: '-1' is no amount"),
                            HasSubstr("decay_usage:7:7: expected a group and a user")));
}

}  // namespace
}  // namespace pbs::migrate::test
