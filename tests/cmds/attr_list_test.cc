#include "ifl/cmds/attr_list.h"

#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

TEST(AttrList, IsALinkedListInItsOrder) {
    AttrList list;
    EXPECT_EQ(list.operations(), nullptr);
    list.add("a", "", "1");
    list.add("b", "r", "2", INCR);
    list.put("a", "", "3");
    const attropl* first = list.operations();
    ASSERT_NE(first, nullptr);
    EXPECT_STREQ(first->name, "a");
    EXPECT_EQ(first->resource, nullptr);
    EXPECT_STREQ(first->value, "3");
    ASSERT_NE(first->next, nullptr);
    EXPECT_STREQ(first->next->resource, "r");
    EXPECT_EQ(first->next->op, INCR);
    EXPECT_EQ(first->next->next, nullptr);
    EXPECT_EQ(value_of(list.attributes(), "b", "r"), "2");
    EXPECT_EQ(value_of(list.attributes(), "b"), std::nullopt);
    EXPECT_TRUE(list.has("b", "r"));
    EXPECT_FALSE(list.has("b"));
}

TEST(AttrList, ACopyHasItsOwnStructs) {
    AttrList list;
    list.add("a", "", "1");
    list.operations();
    AttrList copy = list;
    list.put("a", "", "2");
    EXPECT_STREQ(copy.operations()->value, "1");
    EXPECT_STREQ(list.operations()->value, "2");
}

}  // namespace
}  // namespace pbs::cmds
