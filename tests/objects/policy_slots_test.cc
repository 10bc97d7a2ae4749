#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

constexpr const char* kNoAllTime =
    "Cannot set prime/non-prime time policy without setting an all time policy";

class PolicySlotsTest : public StoreTest {
  protected:
    PolicySlotsTest() {
        for (const char* text : {"c p p1", "c p p2", "c p p3", "c sched s1"}) run(text);
    }
    std::string policy() { return shown(ObjectType::sched, "s1", "policy"); }
};

// PP-748, interface 1, requires this of a new installation.
TEST_F(PolicySlotsTest, DefaultSchedulerHasTheDefaultPolicyForAllTime) {
    const PolicySlots slots = store_->snapshot()->policy_slots("default");
    EXPECT_EQ(slots, (PolicySlots{"default_policy", "", ""}));
    EXPECT_TRUE(store_->snapshot()->policy_slots("s1").empty());
}

TEST_F(PolicySlotsTest, PrimePolicyNeedsAnAllTimePolicy) {
    for (const char* text :
         {"s sched s1 policy+='p:p1'", "s sched s1 policy=p:p1,np:p2", "s sched s1 policy = np:p1"}) {
        const Error error = refused(text);
        EXPECT_EQ(error.message, kNoAllTime) << text;
        EXPECT_EQ(error.code, Code::bad_value);
    }
    run("s sched s1 policy=p1,p:p2");
    EXPECT_EQ(refused("s sched s1 policy-=p1").message, kNoAllTime);
}

TEST_F(PolicySlotsTest, EqualsFillsTheNamedSlotsAndClearsTheOthersButAllTime) {
    run("s sched s1 policy=np:p3,p:p2,p1");
    EXPECT_EQ(policy(), "p1,p:p2,np:p3");
    run("s sched s1 policy=p:p3");
    EXPECT_EQ(policy(), "p1,p:p3");
    run("s sched s1 policy=p2");
    EXPECT_EQ(policy(), "p2");
}

TEST_F(PolicySlotsTest, PlusFillsEmptySlots) {
    run("s sched s1 policy=p1");
    run("s sched s1 policy+='p:p2'");
    run("s sched s1 policy+=np:p2");
    EXPECT_EQ(policy(), "p1,p:p2,np:p2");
    refused("s sched s1 policy+=p:p3");  // refused, as the scheduler has a policy for prime time already
    run("s sched s1 policy-=p:p2,np:p2");
    EXPECT_EQ(policy(), "p1");
}

TEST_F(PolicySlotsTest, NoSlotTwice) {
    for (const char* text :
         {"s sched s1 policy=p1,p2", "s sched s1 policy=p1,p:p2,p:p3", "s sched s1 policy=p1,np:p2,np:p3"}) {
        EXPECT_THAT(refused(text).message, testing::HasSubstr("more than one")) << text;
    }
}

TEST_F(PolicySlotsTest, UnsetEmptiesAllSlots) {
    run("s sched s1 policy=p1,p:p2,np:p3");
    run("unset sched s1 policy");
    EXPECT_TRUE(store_->snapshot()->policy_slots("s1").empty());
}

TEST_F(PolicySlotsTest, OnePolicyMayServeSeveralSlotsAndSchedulers) {
    run("s sched s1 policy=p1,p:p1");
    run("s sched default policy=p1");
    EXPECT_EQ(store_->snapshot()->policy_slots("default").all_time, "p1");
}

TEST_F(PolicySlotsTest, UnknownPoliciesAndPrefixesAreRefused) {
    EXPECT_THAT(refused("s sched s1 policy=p9").message, testing::HasSubstr("there is no policy 'p9'"));
    EXPECT_THAT(refused("s sched s1 policy=p1,p:p9").message, testing::HasSubstr("there is no policy 'p9'"));
    EXPECT_THAT(refused("s sched s1 policy=p1,x:p2").message, testing::HasSubstr("x:"));
}

}  // namespace
}  // namespace pbs::objects
