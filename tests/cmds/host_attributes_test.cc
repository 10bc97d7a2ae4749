#include "ifl/cmds/host_attributes.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::Contains;

TEST(HostAttributes, AreNamedOnceEach) {
    for (const TypeWord& type : object_types()) {
        std::vector<std::string> names = attribute_names(type.type);
        EXPECT_FALSE(names.empty()) << type.word;
        EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << type.word;
    }
}

TEST(HostAttributes, KnowPbsAndPolicyAttributes) {
    EXPECT_TRUE(is_attribute(ObjectType::server, "scheduling"));
    EXPECT_TRUE(is_attribute(ObjectType::queue, "PRIORITY"));
    EXPECT_TRUE(is_attribute(ObjectType::server, "non_work_days"));
    EXPECT_TRUE(is_attribute(ObjectType::queue, "time_window"));
    EXPECT_TRUE(is_attribute(ObjectType::sched, "policy"));
    EXPECT_TRUE(is_attribute(ObjectType::policy, "strict_ordering"));
    EXPECT_FALSE(is_attribute(ObjectType::policy, "scheduling"));
    EXPECT_FALSE(is_attribute(ObjectType::queue, "workq"));
}

TEST(HostAttributes, KnowWhatCanBeSet) {
    EXPECT_TRUE(is_writable(ObjectType::queue, "enabled"));
    EXPECT_FALSE(is_writable(ObjectType::queue, "total_jobs"));
    EXPECT_FALSE(is_writable(ObjectType::node, "jobs"));
    EXPECT_TRUE(is_writable(ObjectType::node, "something_else"));
    EXPECT_EQ(value_kind(ObjectType::server, "managers"), ValueKind::list);
    EXPECT_EQ(value_kind(ObjectType::server, "non_work_days"), ValueKind::text);
}

}  // namespace
}  // namespace pbs::cmds
