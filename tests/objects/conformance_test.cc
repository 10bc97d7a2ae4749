#include "tests/objects/conformance_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class Conformance : public StoreTest, public testing::WithParamInterface<ConformanceRow> {
  protected:
    Conformance() {
        for (const char* text :
             {"c p p1", "c p p2", "c p p3", "c t t1", "c f f1", "c f fs_grp1", "c f fs_grp2",
              "c t w1 rrule=FREQ=WEEKLY;BYDAY=MO, start_time=0800, end_time=1200",
              "c t w2 rrule=FREQ=WEEKLY;BYDAY=MO, start_time=1200, end_time=0800",
              "c t w3 rrule=FREQ=MONTHLY;BYMONTHDAY=13, start_time=1100, end_time=1300",
              "c t never rrule=\"DTSTART:20200101T000000 RRULE:FREQ=DAILY;COUNT=1\""}) {
            run(text);
        }
        std::filesystem::create_directory(directory_ + "/bin");
        for (const char* name : {"bin/get_mem", "bin/c"}) program(name);
        object_ = objects_of_.at(row_.type);
        // fairshare can be True only if the policy has a fairshare_group
        if (row_.attribute == "fairshare") run("s p p1 fairshare_group=fs_grp1");
    }

    // Returns the text with the path of the test's folder before each "/bin".
    std::string here(std::string_view text) const {
        std::string result(text);
        for (std::size_t at = result.find("/bin"); at != std::string::npos;
             at = result.find("/bin", at + directory_.size() + 4))
            result.insert(at, directory_);
        return result;
    }
    std::string now_shown() { return shown(row_.type, object_, row_.attribute); }
    Command set(std::string_view value) {
        return {CommandKind::set, row_.type, object_, {{std::string(row_.attribute), here(value)}}};
    }

    const std::map<ObjectType, std::string> objects_of_ = {
        {ObjectType::policy, "p1"}, {ObjectType::time_window, "t1"}, {ObjectType::fs_group, "f1"},
        {ObjectType::server, ""},   {ObjectType::queue, "q1"},       {ObjectType::sched, "scheduler1"}};
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
    run(here(row_.example));
    EXPECT_EQ(now_shown(), here(row_.example_value));
}

TEST_P(Conformance, OtherValidValuesAreListedInCanonicalText) {
    for (const auto& [typed, listed] : row_.valid) {
        const auto reply = store_->execute(set(typed), kManager, kNow);
        ASSERT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(now_shown(), here(listed)) << typed;
        // setting an attribute to the value that qmgr lists changes nothing
        const auto again = store_->execute(set(listed), kManager, kNow);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_FALSE(again->changed) << typed;
    }
}

// An error about an invalid value names the object and the attribute. It also says what was expected or what
// is missing.
TEST_P(Conformance, InvalidValuesAreRefusedByName) {
    for (std::string_view value : row_.invalid) {
        const auto reply = store_->execute(set(value), kManager, kNow);
        ASSERT_FALSE(reply) << value << " was accepted as " << now_shown();
        EXPECT_EQ(reply.error().code, Code::bad_value) << value;
        const std::string& message = reply.error().message;
        EXPECT_EQ(now_shown(), row_.default_value) << value;
        // PP-748 prescribes this message, which doesn't name the attribute
        if (message == "Cannot set prime/non-prime time policy without setting an all time policy") continue;
        EXPECT_THAT(message, testing::HasSubstr(row_.attribute));
        EXPECT_THAT(message, testing::HasSubstr(object_));
        EXPECT_THAT(message, testing::ContainsRegex("expected|there is no|is not a resource|overlap"));
    }
}

TEST_P(Conformance, UnsetGoesBackToTheDefault) {
    run(here(row_.example));
    ASSERT_TRUE(store_->execute({CommandKind::unset, row_.type, object_, {{std::string(row_.attribute), ""}}},
                                kManager, kNow));
    EXPECT_EQ(now_shown(), row_.default_value);
}

TEST_P(Conformance, ValuesSurviveReopening) {
    for (const auto& [typed, listed] : row_.valid) {
        ASSERT_TRUE(store_->execute(set(typed), kManager, kNow));
        open();
        EXPECT_EQ(now_shown(), here(listed));
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, Conformance, testing::ValuesIn(conformance_table()), [](const auto& row) {
    return fmt::format("{}_{}", type_name(row.param.type), row.param.attribute);
});

// Every attribute of these types has a row of PP-748's tables, except the attributes below, which PP-748 has
// in no table.
TEST(ConformanceTable, HasEveryAttributeButOfTheOriginScheduler) {
    for (ObjectType type : {ObjectType::time_window, ObjectType::fs_group, ObjectType::server,
                            ObjectType::queue, ObjectType::sched}) {
        for (const Attribute& attribute : attributes(type)) {
            // PP-748's interface 6 describes execution_type without a table
            if (attribute.name == "execution_type") continue;
            // migrations from Grid Engine need these two attributes, which PP-748 lacks
            if (attribute.name == "half_life" || attribute.name == "compensation_factor") continue;
            EXPECT_TRUE(std::ranges::any_of(conformance_table(), [&](const ConformanceRow& row) {
                return row.type == type && row.attribute == attribute.name;
            })) << attribute.name;
        }
    }
}

// tests/structure/named_tests_test.cc checks that the named tests exist.
TEST(ConformanceTable, EachAttributeNamesATestOfItsEffect) {
    for (const ConformanceRow& row : conformance_table())
        EXPECT_TRUE(std::ranges::any_of(shown_effects(),
                                        [&](const ShownEffect& effect) {
                                            return effect.type == row.type &&
                                                   effect.attribute == row.attribute;
                                        }))
            << type_name(row.type) << " " << row.attribute;
}

}  // namespace
}  // namespace pbs::objects
