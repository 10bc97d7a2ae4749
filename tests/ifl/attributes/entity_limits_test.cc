#include "ifl/attributes/entity_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::ifl {
namespace {

TEST(EntityLimits, AreReadAndWritten) {
    struct Case {
        std::string_view text;
        std::vector<EntityLimit> limits;
        std::string_view written;
    };
    for (const Case& c : {
             Case{"[u:ann=3]", {{'u', "ann", "3"}}, "[u:ann=3]"},
             Case{"[u:ann=3],[g:PBS_GENERIC=10]",
                  {{'u', "ann", "3"}, {'g', "PBS_GENERIC", "10"}},
                  "[u:ann=3],[g:PBS_GENERIC=10]"},
             Case{" [ p:x = 2gb ] , [o:PBS_ALL=5]",
                  {{'p', "x", "2gb"}, {'o', "PBS_ALL", "5"}},
                  "[p:x=2gb],[o:PBS_ALL=5]"},
             Case{"[u:\"a b\"=1]", {{'u', "a b", "1"}}, "[u:\"a b\"=1]"},
             Case{"[u:'a b'=1]", {{'u', "a b", "1"}}, "[u:\"a b\"=1]"},
             Case{"[u:ann]", {{'u', "ann", std::nullopt}}, "[u:ann]"},
             Case{"[u:ann=10:00:00]", {{'u', "ann", "10:00:00"}}, "[u:ann=10:00:00]"},
         }) {
        const auto limits = parse_entity_limits(c.text);
        ASSERT_TRUE(limits.has_value()) << c.text << ": " << limits.error().expected;
        EXPECT_EQ(*limits, c.limits) << c.text;
        EXPECT_EQ(entity_limits_text(*limits), c.written);
    }
}

// The parser gives the position of an error. OpenPBS 23.06.06 refuses these texts, too.
TEST(EntityLimits, MistakesHaveAPlace) {
    struct Case {
        std::string_view text;
        std::size_t at;
        std::string_view expected;
    };
    for (const Case& c : {
             Case{"", 0, "["},
             Case{"5", 0, "["},
             Case{"[x:a=1]", 1, "u, g, p or o"},
             Case{"[u=1]", 2, "a colon"},
             Case{"[u:=1]", 3, "a name"},
             Case{"[u:a=-1]", 5, "a limit that isn't negative"},
             Case{"[u:a=]", 5, "a limit"},
             Case{"[u:a=1", 6, "]"},
             Case{"[u:a b=1]", 5, "= or ]"},
             Case{"[u:PBS_ALL=1]", 3, "a name; PBS_ALL goes behind o:"},
             Case{"[o:ann=1]", 3, "PBS_ALL, the only name behind o:"},
             Case{"[u:a/b=1]", 3, "a name without any of / [ ] \" ; : | < > + , ? * = '"},
             Case{"[u:\"a=1]", 4, "a quote at the end of the name"},
             Case{"[u:a=1] [u:b=1]", 8, "a comma and another limit, or the end"},
             Case{"[u:a=1],", 8, "["},
         }) {
        const auto limits = parse_entity_limits(c.text);
        ASSERT_FALSE(limits.has_value()) << c.text;
        EXPECT_EQ(limits.error().at, c.at) << c.text;
        EXPECT_EQ(limits.error().expected, c.expected) << c.text;
    }
}

}  // namespace
}  // namespace pbs::ifl
