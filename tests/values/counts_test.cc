#include "values/counts.h"

#include <gmock/gmock.h>

namespace pbs::values {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Counts, AreReadInTheirOrder) {
    EXPECT_THAT(counts("Transit:0 Queued:3  Held:12 "),
                ElementsAre(Pair("Transit", 0), Pair("Queued", 3), Pair("Held", 12)));
    EXPECT_THAT(counts(""), IsEmpty());
}

TEST(Counts, PartsWithoutANumberAreLeftOut) {
    EXPECT_THAT(counts("Transit Queued: Held:x Running:1x Begun:2"), ElementsAre(Pair("Begun", 2)));
}

TEST(Counts, AWordThatIsntThereHasNone) {
    EXPECT_EQ(count_of("Queued:3 Running:1", "Running"), 1);
    EXPECT_EQ(count_of("Queued:3 Running:1", "Held"), 0);
    EXPECT_EQ(count_of("Queued:3 Running:1", "Queue"), 0);
}

}  // namespace
}  // namespace pbs::values
