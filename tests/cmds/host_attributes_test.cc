#include "ifl/cmds/host_attributes.h"

#include <algorithm>
#include <cctype>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/schema.h"

namespace pbs::cmds {
namespace {

TEST(HostAttributes, AreNamedOnceEach) {
    for (const values::ObjectTypeRow& type : values::kObjectTypes) {
        std::vector<std::string> names = attribute_names(type.type);
        EXPECT_FALSE(names.empty()) << type.name;
        EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << type.name;
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

// If a client sets an attribute of these on a scheduler, the bundled server passes it to the plugin. The
// plugin sets it in the scheduler's policies if policies have the attribute, and its own schedulers lack it.
TEST(HostAttributes, AttributesThatSchedulersSetInPoliciesAreThoseOfPoliciesAlone) {
    std::size_t count = 0;
    for (const HostAttribute& attribute : host_attributes(ObjectType::sched)) {
        if (!attribute.has(ifl::of_policies)) continue;
        ++count;
        EXPECT_NE(objects::find_attribute(ObjectType::policy, attribute.name), nullptr) << attribute.name;
        EXPECT_EQ(objects::find_attribute(ObjectType::sched, attribute.name), nullptr) << attribute.name;
    }
    EXPECT_GT(count, 0U);
}

TEST(HostAttributes, KnowWhatCanBeSet) {
    EXPECT_TRUE(is_writable(ObjectType::queue, "enabled"));
    EXPECT_FALSE(is_writable(ObjectType::queue, "total_jobs"));
    EXPECT_FALSE(is_writable(ObjectType::node, "jobs"));
    EXPECT_TRUE(is_writable(ObjectType::node, "something_else"));
    EXPECT_EQ(value_kind(ObjectType::server, "managers"), ValueKind::list);
    EXPECT_EQ(value_kind(ObjectType::server, "comment"), ValueKind::text);
    EXPECT_EQ(value_kind(ObjectType::server, "non_work_days"), ValueKind::plain) << "one value, as it came";
}

constexpr ObjectType kHostTypes[] = {ObjectType::server, ObjectType::queue, ObjectType::node,
                                     ObjectType::sched, ObjectType::resource};

// qmgr's help and the manual page print the tables of host attributes. So the tables have to be readable.
TEST(HostAttributes, EachHasAHelpSentenceAndIsInAlphabeticalOrder) {
    for (const ObjectType type : kHostTypes) {
        std::string before;
        for (const HostAttribute& attribute : host_attributes(type)) {
            EXPECT_GT(attribute.help.size(), 10U) << attribute.name;
            EXPECT_NE(attribute.help.back(), '.') << attribute.name;
            std::string name(attribute.name);
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return std::tolower(c); });
            EXPECT_LT(before, name);
            before = name;
        }
    }
}

TEST(HostAttributes, WhatCanNotBeSetHasNoDefault) {
    for (const ObjectType type : kHostTypes) {
        for (const HostAttribute& attribute : host_attributes(type)) {
            if (!attribute.writable()) {
                EXPECT_EQ(attribute.default_value, "") << attribute.name;
            }
        }
    }
}

TEST(HostAttributes, InitialValuesAreOfAttributesThatCanBeSet) {
    for (const InitialValue& initial : initial_values()) {
        EXPECT_TRUE(is_attribute(initial.type, initial.name)) << initial.name;
        EXPECT_TRUE(is_writable(initial.type, initial.name)) << initial.name;
    }
}

}  // namespace
}  // namespace pbs::cmds
