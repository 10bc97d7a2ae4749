#include "tests/objects/conformance_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class Conformance : public StoreTest, public testing::WithParamInterface<ConformanceRow> {
  protected:
    Conformance() {
        for (const char* text : {"c p p1", "c t t1", "c f f1", "c f fs_grp1", "c f fs_grp2"}) run(text);
        object_ = row_.type == ObjectType::policy ? "p1" : row_.type == ObjectType::time_window ? "t1" : "f1";
        // fairshare can be set to true only when there is a group.
        if (row_.attribute == "fairshare") run("s p p1 fairshare_group=fs_grp1");
    }

    std::string now_shown() { return shown(row_.type, object_, row_.attribute); }
    Command set(std::string_view value) {
        return {CommandKind::set, row_.type, object_, {{std::string(row_.attribute), std::string(value)}}};
    }

    const ConformanceRow& row_ = GetParam();
    std::string object_;
};

TEST_P(Conformance, TypeIsTheDocuments) {
    const Attribute* attribute = find_attribute(row_.type, row_.attribute);
    ASSERT_NE(attribute, nullptr);
    EXPECT_EQ(type_text(attribute->type), row_.type_text);
    EXPECT_FALSE(attribute->help.empty());
}

TEST_P(Conformance, FreshObjectShowsTheDefault) {
    EXPECT_EQ(now_shown(), row_.default_value);
}

TEST_P(Conformance, ExampleCommandWorks) {
    run(row_.example);
    EXPECT_EQ(now_shown(), row_.example_value);
}

TEST_P(Conformance, AnotherValidValueIsListedInCanonicalText) {
    const auto reply = store_->execute(set(row_.valid.first), kManager, kNow);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(now_shown(), row_.valid.second);
    // What is listed can be set again and is then the same.
    const auto again = store_->execute(set(row_.valid.second), kManager, kNow);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_FALSE(again->changed);
}

TEST_P(Conformance, InvalidValuesAreRefusedByName) {
    for (std::string_view value : row_.invalid) {
        const auto reply = store_->execute(set(value), kManager, kNow);
        ASSERT_FALSE(reply) << value << " was accepted as " << now_shown();
        EXPECT_EQ(reply.error().code, Code::bad_value) << value;
        EXPECT_THAT(reply.error().message,
                    testing::HasSubstr(row_.attribute == "rrule" ? "rrule" : row_.attribute));
        EXPECT_EQ(now_shown(), row_.default_value) << value;
    }
}

TEST_P(Conformance, UnsetGoesBackToTheDefault) {
    run(row_.example);
    ASSERT_TRUE(store_->execute({CommandKind::unset, row_.type, object_, {{std::string(row_.attribute), ""}}},
                                kManager, kNow));
    EXPECT_EQ(now_shown(), row_.default_value);
}

TEST_P(Conformance, ValueSurvivesReopening) {
    ASSERT_TRUE(store_->execute(set(row_.valid.first), kManager, kNow));
    open();
    EXPECT_EQ(now_shown(), row_.valid.second);
}

INSTANTIATE_TEST_SUITE_P(Rows, Conformance, testing::ValuesIn(conformance_table()), [](const auto& row) {
    return fmt::format("{}_{}", type_name(row.param.type), row.param.attribute);
});

// Every row of the own types' tables that isn't an Origin option or of this project is in PP-748's tables.
TEST(ConformanceTable, HasEveryAttributeOfTimeWindowAndFsGroup) {
    for (ObjectType type : {ObjectType::time_window, ObjectType::fs_group}) {
        for (const Attribute& attribute : attributes(type)) {
            EXPECT_TRUE(std::ranges::any_of(conformance_table(), [&](const ConformanceRow& row) {
                return row.type == type && row.attribute == attribute.name;
            })) << attribute.name;
        }
    }
}

}  // namespace
}  // namespace pbs::objects
