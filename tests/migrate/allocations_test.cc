#include "migrate/allocations.h"

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Allocations, TheExamplesOfTheGuide) {
    const auto file = parse_allocations(
        "P= Systems Support Staff = staff = -1.0\r\nP= Numerical Analysis Research Group = g10003 = 1500.0\n"
        "P= E = mc2 = g10004 = 0.0",
        "allocations");
    ASSERT_THAT(texts(file.mistakes), testing::IsEmpty());
    ASSERT_EQ(file.groups.size(), 3U);
    EXPECT_TRUE(file.groups[0].unlimited());
    EXPECT_EQ(file.groups[1].group, "g10003");
    EXPECT_EQ(file.groups[1].node_hours, 1500);
    EXPECT_EQ(file.groups[2].title, "E = mc2");
}

TEST(Allocations, AllMistakesAreReported) {
    const auto file = parse_allocations(
        "Staff = staff = 1\nP= Staff = 1\nP= a = b c = 1\nP= a = g = lots\nP= a = g = -2\n", "allocations");
    EXPECT_THAT(texts(file.mistakes),
                ElementsAre(HasSubstr("allocations:1:1: 'Staff = staff = 1' is no allocation, expected P="),
                            HasSubstr("allocations:2:1: 'P= Staff = 1' is no allocation"),
                            HasSubstr("allocations:3:8: 'b c' is no name of a group"),
                            HasSubstr("allocations:4:12: g: 'lots' is no allocation"),
                            HasSubstr("allocations:5:12: g: '-2' is no allocation")));
}

// A migration makes no objects from allocations and usage. A note names the groups that have used up their
// allocation.
TEST(Allocations, AreLookedAtTogetherWithWhatWasUsed) {
    const auto allocations =
        parse_allocations("P= a = g1 = 10\nP= b = g2 = 10\nP= c = g3 = -1.0\n", "allocations");
    const auto current = parse_current_usage("u1 g1 3 6.5\nu2 g1 1 4\nu1 g2 1 9\nu3 g3 1 99\n", "current");
    const auto conversion = convert({.allocations = allocations, .current = current}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(conversion->changes.commands, IsEmpty());
    EXPECT_THAT(conversion->report.notes,
                ElementsAre(HasSubstr("current: 4 records of 3 groups"),
                            AllOf(HasSubstr("allocations: 3 groups, 1 of them without a limit"),
                                  HasSubstr("sched_acct_dir")),
                            "allocations:1: g1 has used 10.500 of 10.000 node-hours"));
}

}  // namespace
}  // namespace pbs::migrate::test
