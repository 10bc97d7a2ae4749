#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class StatusTest : public StoreTest {};

TEST_F(StatusTest, FreshObjectShowsAllDefaultsAndNothingElse) {
    const auto described = status(*store_->snapshot(), ObjectType::policy, "default_policy", {});
    ASSERT_TRUE(described);
    std::size_t defaults = 0;
    for (const Attribute& attribute : attributes(ObjectType::policy))
        defaults += attribute.default_value.empty() ? 0 : 1;
    EXPECT_EQ(described->front().attributes.size(), defaults);
    for (const AttributeStatus& shown : described->front().attributes) EXPECT_TRUE(shown.is_default);
}

TEST_F(StatusTest, AllObjectsOrOneOrChosenAttributes) {
    run("c f f2 comment=x");
    run("c f f1");
    auto described = status(*store_->snapshot(), ObjectType::fs_group, "", {});
    ASSERT_EQ(described->size(), 2U);
    EXPECT_EQ(described->front().name, "f1");
    described =
        status(*store_->snapshot(), ObjectType::fs_group, "f2", {"comment", "entity", "tree_element"});
    ASSERT_EQ(described->size(), 1U);
    ASSERT_EQ(described->front().attributes.size(), 2U);
    EXPECT_EQ(described->front().attributes[0].value, "x");
    EXPECT_FALSE(described->front().attributes[0].is_default);
    EXPECT_EQ(described->front().attributes[1].value, "euser");
}

TEST_F(StatusTest, UnknownNamesAre15212) {
    for (ObjectType type : own_types()) {
        const auto described = status(*store_->snapshot(), type, "nobody", {});
        ASSERT_FALSE(described);
        EXPECT_EQ(static_cast<int>(described.error().code), 15212);
    }
    EXPECT_EQ(status(*store_->snapshot(), ObjectType::policy, "default_policy", {"colour"}).error().code,
              Code::unknown_attribute);
}

TEST_F(StatusTest, HostsObjectsWithoutOurAttributesAreEmpty) {
    EXPECT_TRUE(status(*store_->snapshot(), ObjectType::queue, "q1", {})->front().attributes.empty());
    EXPECT_TRUE(status(*store_->snapshot(), ObjectType::server, "svr", {})->front().attributes.empty());
    run("s s non_work_days=01/01");
    EXPECT_EQ(status(*store_->snapshot(), ObjectType::server, "svr", {})->front().attributes.size(), 1U);
}

}  // namespace
}  // namespace pbs::objects
