#include "values/object_types.h"

#include <gmock/gmock.h>

#include "ifl/pbs_ifl.h"

namespace pbs::values {
namespace {

using testing::ElementsAre;

TEST(ObjectTypes, HaveTheNumbersOfTheProtocol) {
    EXPECT_EQ(static_cast<int>(ObjectType::server), MGR_OBJ_SERVER);
    EXPECT_EQ(static_cast<int>(ObjectType::queue), MGR_OBJ_QUEUE);
    EXPECT_EQ(static_cast<int>(ObjectType::node), MGR_OBJ_NODE);
    EXPECT_EQ(static_cast<int>(ObjectType::resource), MGR_OBJ_RSC);
    EXPECT_EQ(static_cast<int>(ObjectType::sched), MGR_OBJ_SCHED);
    EXPECT_EQ(static_cast<int>(ObjectType::policy), MGR_OBJ_POLICY);
    EXPECT_EQ(static_cast<int>(ObjectType::time_window), MGR_OBJ_TIME_WINDOW);
    EXPECT_EQ(static_cast<int>(ObjectType::fs_group), MGR_OBJ_FS_GROUP);
    EXPECT_EQ(static_cast<int>(ObjectType::quota), MGR_OBJ_QUOTA);
    EXPECT_EQ(find_type(static_cast<ObjectType>(2)), nullptr);
    EXPECT_EQ(type_name(static_cast<ObjectType>(2)), "object");
}

TEST(ObjectTypes, AreMeantByNamesPluralsAndAbbreviations) {
    const auto meant = [](std::string_view word) {
        const ObjectTypeRow* row = type_meant(word);
        return row == nullptr ? "none" : row->name;
    };
    EXPECT_EQ(meant("s"), "server");
    EXPECT_EQ(meant("sc"), "sched");
    EXPECT_EQ(meant("schedulers"), "sched");
    EXPECT_EQ(meant("q"), "queue");
    EXPECT_EQ(meant("queues"), "queue");
    EXPECT_EQ(meant("p"), "policy");
    EXPECT_EQ(meant("polici"), "policy");
    EXPECT_EQ(meant("Time_Windows"), "time_window");
    EXPECT_EQ(meant("f"), "fs_group");
    EXPECT_EQ(meant("quo"), "quota");
    EXPECT_EQ(meant("policyx"), "none");
    EXPECT_EQ(meant(""), "none");
}

TEST(ObjectTypes, EachHasAPlaceInTheOrderOfMaking) {
    for (const ObjectTypeRow& row : kObjectTypes)
        EXPECT_EQ(std::ranges::count(kMakingOrder, row.type), 1) << row.name;
}

TEST(ObjectTypes, AreListedInWords) {
    EXPECT_EQ(type_list(&ObjectTypeRow::own), "policy, time_window, fs_group or quota");
    EXPECT_THAT(own_types(), ElementsAre(ObjectType::policy, ObjectType::time_window, ObjectType::fs_group,
                                         ObjectType::quota));
}

}  // namespace
}  // namespace pbs::values
