#include "values/comparison.h"

#include <gtest/gtest.h>

#include <string>

namespace pbs::values {
namespace {

TEST(Comparison, HoldsAsItsSignSays) {
    struct Case {
        const char* sign;
        bool of_less;
        bool of_equals;
        bool of_more;
    };
    for (const Case& c :
         {Case{"=", false, true, false}, Case{"!=", true, false, true}, Case{">=", false, true, true},
          Case{">", false, false, true}, Case{"<=", true, true, false}, Case{"<", true, false, false}}) {
        const std::string whole = std::string(c.sign) + "64gb";
        std::string_view text = whole;
        const auto how = take_comparison(text);
        ASSERT_TRUE(how) << c.sign;
        EXPECT_EQ(text, "64gb");
        EXPECT_EQ(sign_of(*how), c.sign);
        EXPECT_EQ(holds(1, *how, 2), c.of_less) << c.sign;
        EXPECT_EQ(holds(2, *how, 2), c.of_equals) << c.sign;
        EXPECT_EQ(holds(3.5, *how, 2.5), c.of_more) << c.sign;
    }
}

TEST(Comparison, BeginsTheText) {
    for (const std::string_view whole : {"", "64gb", " =1", "!1", "~=1"}) {
        std::string_view text = whole;
        EXPECT_EQ(take_comparison(text), std::nullopt) << whole;
        EXPECT_EQ(text, whole);
    }
}

}  // namespace
}  // namespace pbs::values
