#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::HasSubstr;

class ReferencesTest : public StoreTest {};

TEST_F(ReferencesTest, DefaultPolicyCannotBeDeleted) {
    EXPECT_EQ(refused("d policy default_policy").message,
              "policy default_policy: default_policy cannot be deleted");
    run("c p p1");
    run("s sched default policy=p1");
    refused("d policy default_policy");  // refused even though no scheduler uses it
}

TEST_F(ReferencesTest, PolicyOfASchedulerIsNotDeleted) {
    run("c p p1");
    run("c p p2");
    run("s sched s1 policy=p1,p:p2");
    const Error error = refused("d p p2");
    EXPECT_EQ(error.code, Code::busy);
    EXPECT_EQ(error.message, "policy p2 is in use by sched s1 (policy p:p2)");
    run("s sched s1 policy-=p:p2");
    run("d p p2");
    refused("d p p1");
}

TEST_F(ReferencesTest, TimeWindowOfAQueueIsNotDeleted) {
    run("c t t1 rrule=FREQ=DAILY");
    run("s q q1 time_window=t1");
    run("s q q2 time_window=t1");
    EXPECT_EQ(refused("d t t1").message,
              "time_window t1 is in use by queue q1 (time_window t1), queue q2 (time_window t1)");
    run("u q q1 time_window");
    run("s q q2 time_window-=t1");
    run("d t t1");
}

TEST_F(ReferencesTest, FsGroupOfAPolicyIsNotDeleted) {
    run("c f f1");
    run("c p p1 fairshare_group=f1");
    EXPECT_EQ(refused("d f f1").message, "fs_group f1 is in use by policy p1 (fairshare_group f1)");
    run("d p p1");
    run("d f f1");
}

TEST_F(ReferencesTest, ManyUsersAreCounted) {
    run("c f f1");
    for (int i = 0; i < 8; ++i) run("c p p" + std::to_string(i) + " fairshare_group=f1");
    EXPECT_THAT(refused("d f f1").message, HasSubstr("and 3 more"));
}

TEST_F(ReferencesTest, WhatIsReferredToHasToExist) {
    EXPECT_THAT(refused("c p p1 fairshare_group=f9").message,
                HasSubstr("fairshare_group: there is no fs_group 'f9'"));
    EXPECT_THAT(refused("s q q1 time_window=t9").message, HasSubstr("there is no time_window 't9'"));
}

TEST_F(ReferencesTest, DeletedAndMadeAgainInOneTransaction) {
    run("c f f1");
    run("c p p1 fairshare_group=f1");
    ChangeSet changes;
    for (const char* text :
         {"d p p1", "d f f1", "c f f1 unknown_shares=3", "c p p1 fairshare_group=f1", "c f f2"}) {
        changes.commands.push_back(parse_command(text));
    }
    const auto applied = store_->apply(changes, kManager, kNow);
    ASSERT_TRUE(applied) << applied.error().message;
    open();
    EXPECT_EQ(store_->snapshot()->fs_group("f1")->integer("unknown_shares"), 3);
    refused("d f f1");
    changes.commands = {parse_command("d p p1"), parse_command("d f f1")};
    ASSERT_TRUE(store_->apply(changes, kManager, kNow));
    open();
    EXPECT_EQ(store_->snapshot()->fs_group("f1"), nullptr);
}

}  // namespace
}  // namespace pbs::objects
