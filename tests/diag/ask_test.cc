#include "tools/diag/ask.h"

#include <gtest/gtest.h>

namespace pbs::diag {
namespace {

TEST(WithoutNumbers, JobsThatDifferInAmountsCountTogether) {
    EXPECT_EQ("Not Running: N of N jobs", without_numbers("Not Running: 12 of 345 jobs"));
    EXPECT_EQ("Exceeds limit (N:N:N)", without_numbers("Exceeds limit (02:00:00)"));
}

TEST(WithoutNumbers, DigitsOfNamesStay) {
    EXPECT_EQ("Queue batch2 is full", without_numbers("Queue batch2 is full"));
    EXPECT_EQ("", without_numbers(""));
}

}  // namespace
}  // namespace pbs::diag
