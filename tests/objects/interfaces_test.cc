// Checks what PP-748 says about the objects, statement by statement. Each test is named by its interface.
// tests/e2e/pp748_test.cc checks the statements that need a server, and conformance_table.cc has the
// attribute tables.
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Pp748 : public StoreTest {
  protected:
    std::string policy(std::string_view attribute) { return shown(ObjectType::policy, "p1", attribute); }
    std::string slots(std::string_view sched) { return shown(ObjectType::sched, sched, "policy"); }
    // Checks that users and operators can't run these commands, and that managers and root can.
    void managers_only(std::initializer_list<const char*> commands) {
        for (const char* text : commands) {
            for (unsigned privilege : {unsigned{user_privilege}, unsigned{operator_privilege}}) {
                const auto reply =
                    store_->execute(parse_command(text), {"olaf", "front.example.com", privilege}, kNow);
                ASSERT_FALSE(reply) << text;
                EXPECT_EQ(reply.error().code, Code::no_permission) << text;
            }
            run(text);
        }
    }
};

TEST_F(Pp748, Interface1_PoliciesAreCreatedUnderAName) {
    run("c policy p1");
    run("s p p1 by_queue=False, strict_ordering=True");
    run("s sched scheduler1 policy=p1");
    EXPECT_EQ(policy("by_queue"), "False");
    EXPECT_EQ(policy("strict_ordering"), "True");
    EXPECT_EQ(slots("scheduler1"), "p1");
}

TEST_F(Pp748, Interface1_OnePolicyIsAssignedToSeveralSchedulers) {
    run("c policy p1");
    run("s sched scheduler1 policy=p1");
    run("s sched scheduler2 policy=p1");
    EXPECT_EQ(slots("scheduler1"), "p1");
    EXPECT_EQ(slots("scheduler2"), "p1");
}

TEST_F(Pp748, Interface1_ManagersCreateModifyAndDeletePolicies) {
    managers_only({"c policy p1", "s policy p1 by_queue=False", "u policy p1 by_queue", "d policy p1"});
}

TEST_F(Pp748, Interface1_PolicyIsDeletedOnlyWhenNotAssigned) {
    run("c policy p1");
    run("s sched scheduler1 policy=p1");
    const Error error = refused("d policy p1");
    EXPECT_EQ(error.code, Code::busy);
    EXPECT_THAT(error.message, HasSubstr("sched scheduler1"));
    run("s sched scheduler1 policy=default_policy");
    run("d policy p1");
}

TEST_F(Pp748, Interface1_RemovedConfigurationsAreNoAttributes) {
    run("c policy p1");
    for (const char* name :
         {"mom_resources", "unknown_shares", "smp_cluster_dist", "sort_queues", "nonprimetime_prefix",
          "primetime_prefix", "resources", "dedicated_prefix", "preemptive_sched", "log_filter"}) {
        EXPECT_EQ(refused(std::string("s p p1 ") + name + "=1").code, Code::unknown_attribute) << name;
    }
    run("c fs_group f1 unknown_shares=20");
}

TEST_F(Pp748, Interface1_PrefixesChooseTheSlot) {
    for (const char* text : {"c p p1", "c p p2", "c p p3"}) run(text);
    run("s sched sched1 policy=\"p3,p:p1,np:p2\"");
    EXPECT_EQ(store_->snapshot()->policy_slots("sched1"), (PolicySlots{"p3", "p1", "p2"}));
}

TEST_F(Pp748, Interface1_PrimeAndNonPrimePoliciesNeedAnAllTimePolicy) {
    run("c p p1");
    for (const char* text : {"s sched sched1 policy+=p:p1", "s sched sched1 policy=np:p1"}) {
        EXPECT_EQ(refused(text).message,
                  "Cannot set prime/non-prime time policy without setting an all time policy");
    }
    run("s sched sched1 policy=p1");
    run("s sched sched1 policy+=p:p1");
    EXPECT_EQ(refused("s sched sched1 policy-=p1").message,
              "Cannot set prime/non-prime time policy without setting an all time policy");
}

TEST_F(Pp748, Interface1_SeveralPoliciesAreSetAtOnceEachKindOnce) {
    for (const char* text : {"c p p1", "c p p2", "s sched sched1 policy=default_policy"}) run(text);
    run("s sched sched1 policy=p:p1,np:p2");
    EXPECT_EQ(slots("sched1"), "default_policy,p:p1,np:p2");
    for (const char* text : {"s sched sched1 policy=p1,p2", "s sched sched1 policy=p1,p:p1,p:p2",
                             "s sched sched1 policy=p1,np:p1,np:p2", "s sched sched1 policy+=p:p2"}) {
        EXPECT_THAT(refused(text).message, HasSubstr("more than one")) << text;
    }
}

TEST_F(Pp748, Interface1_UnsetEmptiesAllSlotsAtOnce) {
    for (const char* text : {"c p p1", "s sched sched1 policy=default_policy", "s sched sched1 policy+=p:p1"})
        run(text);
    run("unset sched sched1 policy");
    EXPECT_TRUE(store_->snapshot()->policy_slots("sched1").empty());
    run("d p p1");
}

TEST_F(Pp748, Interface1_DefaultPolicyIsThereWithDefaultsAndAssigned) {
    const Object* object = store_->snapshot()->policy("default_policy");
    ASSERT_NE(object, nullptr);
    EXPECT_TRUE(object->values().empty());  // no value is set; conformance_table.cc has the defaults
    EXPECT_EQ(store_->snapshot()->policy_slots("default"), (PolicySlots{"default_policy", "", ""}));
}

TEST_F(Pp748, Interface1_DefaultPolicyCannotBeDeleted) {
    refused("d p default_policy");
    run("unset sched default policy");
    EXPECT_THAT(refused("d p default_policy").message, HasSubstr("default_policy cannot be deleted"));
}

TEST_F(Pp748, Interface1_FairshareNeedsItsGroup) {
    run("c p p1");
    EXPECT_THAT(refused("s p p1 fairshare=True").message, HasSubstr("fairshare_group"));
    run("c f fs_grp1");
    run("s p p1 fairshare_group=fs_grp1");
    run("s p p1 fairshare=True");
    EXPECT_THAT(refused("u p p1 fairshare_group").message, HasSubstr("fairshare can't be True"));
    EXPECT_EQ(refused("d f fs_grp1").code, Code::busy);
}

TEST_F(Pp748, Interface2_WindowsAreCreatedUnderAName) {
    run("c time_window t1");
    run("s t t1 rrule=\"RRULE:FREQ=WEEKLY;BYDAY=MO\"");
    run("s t t1 start_time=0600");
    EXPECT_EQ(shown(ObjectType::time_window, "t1", "start_time"), "06:00:00");
}

TEST_F(Pp748, Interface2_AQueueHasSeveralWindowsThatDontOverlap) {
    run("c t t1 rrule=FREQ=DAILY, start_time=0600, end_time=0900");
    run("c t t2 rrule=FREQ=DAILY, start_time=0900, end_time=1200");
    run("c t t3 rrule=FREQ=WEEKLY;BYDAY=SU, start_time=0859, end_time=0901");
    run("s q workq time_window=\"t1,t2\"");
    const Error error = refused("s q workq time_window+=t3");
    // kNow is a Saturday. The windows first overlap on the next day, a Sunday.
    EXPECT_THAT(error.message, HasSubstr("time_windows t1 and t3 of queue workq overlap, first on "
                                         "2026-11-22 08:59:00"));
    run("s q queue1 time_window=t3");
    run("s q queue2 time_window=t1");  // a window may belong to several queues
    // A change of a window is checked for each queue that has the window.
    EXPECT_THAT(refused("s t t1 end_time=0901").message, HasSubstr("t1 and t2 of queue workq"));
}

TEST_F(Pp748, Interface2_WindowsThatFollowEachOtherForEverDontOverlap) {
    // both windows open every fourth week, in different weeks; the store recognises that they never overlap
    run("c t even rrule=\"DTSTART:20260105T000000 RRULE:FREQ=WEEKLY;INTERVAL=4\"");
    run("c t odd rrule=\"DTSTART:20260119T000000 RRULE:FREQ=WEEKLY;INTERVAL=4\"");
    run("s q workq time_window=\"even,odd\"");
    // a window of every fifth week coincides some day with one of every fourth week
    run("c t fifth rrule=\"DTSTART:20260112T000000 RRULE:FREQ=WEEKLY;INTERVAL=5\"");
    EXPECT_THAT(refused("s q workq time_window+=fifth").message, HasSubstr("overlap, first on"));
    // 29 February is never the first Sunday of a year. In some years, however far away, it is the fifth
    // Sunday of February.
    run("c t leap rrule=FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29");
    run("c t sunday rrule=FREQ=YEARLY;BYDAY=1SU");
    run("s q queue1 time_window=\"leap,sunday\"");
    run("c t friday rrule=FREQ=YEARLY;BYMONTH=2;BYDAY=5SU");
    EXPECT_THAT(refused("s q queue1 time_window=\"leap,friday\"").message, HasSubstr("2032-02-29 00:00:00"));
}

TEST_F(Pp748, Interface2_ManagersCreateModifyAndDeleteWindows) {
    managers_only(
        {"c time_window t1", "s time_window t1 type=prime", "u time_window t1 type", "d time_window t1"});
}

TEST_F(Pp748, Interface2_WindowIsDeletedOnlyWhenNoQueueHasIt) {
    run("c t t1 rrule=FREQ=DAILY");
    run("s q workq time_window=t1");
    const Error error = refused("d t t1");
    EXPECT_EQ(error.code, Code::busy);
    EXPECT_THAT(error.message, HasSubstr("queue workq"));
    run("u q workq time_window");
    run("d t t1");
}

TEST_F(Pp748, Interface2_EqualTimesAreAWholeDayAndNoWindowIsEmpty) {
    run("c t t1 rrule=FREQ=DAILY, start_time=0800, end_time=0800");
    run("c t t2 rrule=FREQ=WEEKLY;BYDAY=SU, start_time=0300, end_time=0400");
    EXPECT_THAT(refused("s q workq time_window=\"t1,t2\"").message, HasSubstr("2026-11-22 03:00:00"));
    EXPECT_THAT(refused("s t t2 start_time=24:00, end_time=24:00").message, HasSubstr("24:00"));
}

TEST_F(Pp748, Interface3_ManagersSetModifyAndUnsetNonWorkDays) {
    managers_only({"set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"",
                   "set server non_work_days += \"FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5\"",
                   "set server non_work_days += \"FREQ=WEEKLY;BYDAY=FR;INTERVAL=2\"",
                   "set server non_work_days -= \"FREQ=WEEKLY;BYDAY=FR;INTERVAL=2\""});
    EXPECT_THAT(
        store_->snapshot()->non_work_days(),
        ElementsAre("FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1", "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5"));
    managers_only({"unset server non_work_days"});
    EXPECT_TRUE(store_->snapshot()->non_work_days().empty());
}

TEST_F(Pp748, Interface3_TheFirstOfTheYearMayBeWrittenAsADate) {
    run("set server non_work_days = \"01/01\"");
    EXPECT_EQ(shown(ObjectType::server, "", "non_work_days"), "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1");
}

TEST_F(Pp748, Interface4_ManagersCreateModifyAndDeleteFsGroups) {
    managers_only({"create fs_group f1", "set fs_group f1 usage_formula=\"cput*fs_factor\"",
                   "set fs_group f1 decay_time=18:00:00", "unset fs_group f1 decay_time",
                   "delete fs_group f1"});
}

TEST_F(Pp748, Interface4_AFreshFsGroupIsUsedAtOnce) {
    run("create fs_group f1");
    EXPECT_TRUE(store_->snapshot()->fs_group("f1")->values().empty());
    run("s p default_policy fairshare_group=f1, fairshare=True");
}

TEST_F(Pp748, Interface4_TreesHaveOneRootUniqueNamesAndNoCycles) {
    run("create fs_group f1 tree_element = \"group01:root=30, group02:root=70, ann:group01=5\"");
    for (const char* text :
         {"set fs_group f1 tree_element += \"ann:group02=1\"",
          "set fs_group f1 tree_element += \"bob:nowhere=1\"",
          "set fs_group f1 tree_element = \"a:b=1,b:c=1,c:a=1\"",
          "set fs_group f1 tree_element += \"bob:group01=-1\"", "set fs_group f1 tree_element -= group01"}) {
        EXPECT_THAT(refused(text).message, HasSubstr("expected")) << text;
    }
}

TEST_F(Pp748, Interface5_PolicyIsAnAttributeOfASched) {
    run("c policy p1");
    run("s sched multi1 policy = p1");
    EXPECT_EQ(slots("multi1"), "p1");
    EXPECT_THAT(refused("s sched multi1 policy = p2").message, HasSubstr("there is no policy 'p2'"));
}

TEST_F(Pp748, Interface6_BackfillDepthAndFormulaBelongToPolicies) {
    run("c policy p1");
    run("s policy p1 backfill_depth = 3, job_sort_formula = ncpus*walltime");
    EXPECT_EQ(policy("backfill_depth"), "3");
    EXPECT_EQ(policy("job_sort_formula"), "ncpus*walltime");
}

TEST_F(Pp748, Interfaces10To12_UnknownNamesAre15212) {
    for (ObjectType type : own_types()) {
        const auto described = status(*store_->snapshot(), type, "nobody", {});
        ASSERT_FALSE(described);
        EXPECT_EQ(static_cast<int>(described.error().code), 15212);
    }
}

}  // namespace
}  // namespace pbs::objects
