#include "ifl/attributes/attribute_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "ifl/pbs_ifl.h"

namespace pbs::ifl {
namespace {

std::string upper(std::string_view name) {
    std::string text(name);
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

class Tables : public testing::TestWithParam<int> {
  protected:
    const AttributeTable& table() const { return *attribute_table(GetParam()); }
};

TEST_P(Tables, NamesAreUniqueAndFoundInAnyCase) {
    std::set<std::string> names;
    for (const AttributeDef& row : table().all()) {
        EXPECT_TRUE(names.insert(upper(row.name)).second) << row.name;
        EXPECT_EQ(table().find_any(upper(row.name)), &row);
    }
    EXPECT_EQ(table().find_any("no_such"), nullptr);
    EXPECT_EQ(table().find_any(""), nullptr);
}

TEST_P(Tables, TheServerHasTheRowsThatAreNobodyElses) {
    for (const AttributeDef& row : table().all()) {
        const bool here = !row.has(of_plugin) && !row.has(openpbs_only);
        EXPECT_EQ(table().find(row.name), here ? &row : nullptr) << row.name;
        EXPECT_EQ(table().is_openpbs_only(upper(row.name)), row.has(openpbs_only)) << row.name;
    }
    EXPECT_FALSE(table().is_openpbs_only("no_such"));
}

TEST_P(Tables, WhatIsWorkedOutCanNotBeSet) {
    for (const AttributeDef& row : table().all()) {
        // clients may set `depend` and `eligible_time`, from which the server computes other values
        const bool taken_up = row.name == "depend" || row.name == "eligible_time";
        if ((row.has(computed) && !taken_up) || row.has(of_plugin)) {
            EXPECT_FALSE(row.writable()) << row.name;
        }
    }
}

TEST_P(Tables, WhatANewObjectHasCanBeTakenAwayAndHasADefault) {
    for (const AttributeDef& row : table().all()) {
        if (!row.has(preset)) continue;
        EXPECT_TRUE(row.writable()) << row.name;
        EXPECT_NE(row.default_value, "") << row.name;
        EXPECT_EQ(row.type == AttributeType::resources, row.default_value.find('=') != std::string::npos)
            << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Tables,
                         testing::Values(MGR_OBJ_SERVER, MGR_OBJ_QUEUE, MGR_OBJ_JOB, MGR_OBJ_NODE,
                                         MGR_OBJ_RESV, MGR_OBJ_RSC, MGR_OBJ_SCHED));

TEST(AttributeTable, OtherTypesHaveNone) {
    for (const int type : {MGR_OBJ_NONE, MGR_OBJ_HOOK, MGR_OBJ_POLICY}) {
        EXPECT_EQ(attribute_table(type), nullptr) << type;
    }
}

TEST(AttributeTable, NamesAreComparedWithoutRegardToAsciiCase) {
    EXPECT_TRUE(same_name("Priority", "pRIORITY"));
    EXPECT_FALSE(same_name("Priority", "Priorit"));
    EXPECT_FALSE(same_name("a[", "a{")) << "32 apart, and no letters";
}

}  // namespace
}  // namespace pbs::ifl
