#include "server_plugin/host/attributes.h"

#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

class AttributesTest : public testing::Test {
  protected:
    int apply(const std::string& name, const std::string& resource, const std::string& value,
              ifl::Op op = ifl::Op::set) {
        ifl::Attribute change{name, resource, value, op};
        auto done = apply_change(attributes_, *server_table().find(name), change, resources_);
        return done ? 0 : done.error().code;
    }
    std::string text(const std::string& name, const std::string& resource = {}) {
        return std::string(attributes_.text(name, resource));
    }

    ResourceTable resources_;
    Attributes attributes_;
};

TEST_F(AttributesTest, AddAndSubtractAmounts) {
    EXPECT_EQ(apply("max_running", "", "5"), 0);
    EXPECT_EQ(apply("max_running", "", "3", ifl::Op::incr), 0);
    EXPECT_EQ(apply("max_running", "", "1", ifl::Op::decr), 0);
    EXPECT_EQ(text("max_running"), "7");
    EXPECT_EQ(apply("resources_max", "mem", "1gb"), 0);
    EXPECT_EQ(apply("resources_max", "mem", "1mb", ifl::Op::incr), 0);
    EXPECT_EQ(text("resources_max", "mem"), "1049600kb");
    EXPECT_EQ(apply("resources_max", "mem", "2gb", ifl::Op::decr), PBSE_BADATVAL);
}

TEST_F(AttributesTest, ListsGrowAndShrink) {
    EXPECT_EQ(apply("managers", "", "a@h,b@h"), 0);
    EXPECT_EQ(apply("managers", "", "c@h", ifl::Op::incr), 0);
    EXPECT_EQ(apply("managers", "", "c@h", ifl::Op::incr), PBSE_DUPLIST);
    EXPECT_EQ(apply("managers", "", "a@h", ifl::Op::decr), 0);
    EXPECT_EQ(text("managers"), "b@h,c@h");
    EXPECT_EQ(apply("managers", "", "b@h,c@h", ifl::Op::decr), 0);
    EXPECT_FALSE(attributes_.has("managers"));
}

TEST_F(AttributesTest, UnsetAndEmptyValueRemove) {
    EXPECT_EQ(apply("comment", "", "hello"), 0);
    EXPECT_EQ(apply("comment", "", ""), 0);
    EXPECT_FALSE(attributes_.has("comment"));
    EXPECT_EQ(apply("resources_max", "ncpus", "5"), 0);
    EXPECT_EQ(apply("resources_max", "mem", "5gb"), 0);
    EXPECT_EQ(apply("resources_max", "ncpus", "", ifl::Op::unset), 0);
    EXPECT_EQ(attributes_.all_of("resources_max").size(), 1U);
    EXPECT_EQ(apply("resources_max", "", "", ifl::Op::unset), 0);
    EXPECT_TRUE(attributes_.values().empty());
}

TEST_F(AttributesTest, ResourcesMustBeKnownAndInAList) {
    EXPECT_EQ(apply("resources_max", "foo", "5"), PBSE_UNKRESC);
    EXPECT_EQ(apply("resources_max", "", "5"), PBSE_BADATVAL);
    EXPECT_EQ(apply("comment", "ncpus", "5"), PBSE_NOATTR);
    EXPECT_EQ(apply("resources_max", "ncpus", "many"), PBSE_BADATVAL);
}

TEST_F(AttributesTest, VariablesAreReplacedByName) {
    const AttributeDef& def = *job_table().find("Variable_List");
    ASSERT_TRUE(
        apply_change(attributes_, def, {"Variable_List", "", "A=1,B=2\\,3", ifl::Op::set}, resources_));
    ASSERT_TRUE(apply_change(attributes_, def, {"Variable_List", "", "A=9", ifl::Op::incr}, resources_));
    EXPECT_EQ(text("Variable_List"), "B=2\\,3,A=9");
}

}  // namespace
}  // namespace pbs::host
