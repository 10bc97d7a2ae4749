#include <gmock/gmock.h>

#include "objects/commands.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

Identity with(unsigned privilege) {
    return {"joe", "desk.example.com", privilege};
}

TEST(Authorize, ManagersAndRootMayDoEverything) {
    for (const char* text :
         {"c p p1", "d p p1", "s p p1 by_queue=False", "s s non_work_days=01/01", "s sched x policy=p1"}) {
        EXPECT_TRUE(authorize(parse_command(text), with(manager_privilege | operator_privilege))) << text;
        EXPECT_TRUE(authorize(parse_command(text), with(root_privilege))) << text;
    }
}

TEST(Authorize, OthersMayChangeNothing) {
    for (const char* text :
         {"c p p1", "d p p1", "s p p1 by_queue=False", "s p p1 comment=x", "s s non_work_days=01/01"}) {
        const Result<void> allowed = authorize(parse_command(text), with(user_privilege));
        ASSERT_FALSE(allowed) << text;
        EXPECT_EQ(allowed.error().code, Code::no_permission);
        EXPECT_THAT(allowed.error().message, testing::HasSubstr("joe@desk.example.com"));
    }
}

// Operators may set the comments of these objects, and no other attributes. PBS lets operators do the same
// with queues and nodes.
TEST(Authorize, OperatorsMaySetComments) {
    for (const char* text : {"s p p1 comment=x", "u t t1 comment", "s f f1 comment=x"}) {
        EXPECT_TRUE(authorize(parse_command(text), with(operator_privilege))) << text;
    }
    for (const char* text : {"c p p1", "c p p1 comment=x", "d p p1", "s p p1 by_queue=False",
                             "s p p1 comment=x, by_queue=False", "s p p1 nonsense=1", "s p p1"}) {
        EXPECT_FALSE(authorize(parse_command(text), with(operator_privilege))) << text;
    }
}

class AuthorizeTest : public StoreTest {};

TEST_F(AuthorizeTest, RefusedCommandLeavesNoTrace) {
    const std::uint64_t revision = store_->snapshot()->revision();
    const auto reply = store_->execute(parse_command("c p p1"), with(user_privilege), kNow);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::no_permission);
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    EXPECT_EQ(store_->history({})->size(), revision);
}

}  // namespace
}  // namespace pbs::objects
