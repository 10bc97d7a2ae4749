// Tests statements of PP-748 about the objects, as an administrator sees them: directives of qmgr with their
// messages, and listings before and after a restart. Statements that need no server are tested in
// tests/objects/interfaces_test.cc. managers_test.cc and origin_test.cc show with jobs that a change is in
// force from the next cycle, and that a switch of the policy causes a cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

struct Step {
    std::string directive;
    std::string answer{};  // part of qmgr's error; empty: qmgr prints no message
};
struct Shown {
    std::string object;
    std::string attribute;
    std::string value;
};
struct Statement {
    std::string name;
    std::vector<Step> steps;
    std::vector<Shown> shown;
};

const std::vector<Statement>& statements() {
    static const std::vector<Statement> table = {
        {"Interface1_PolicyIsCreatedSetAndAssigned",
         {{"c policy p1"},
          {"s p p1 by_queue=False, strict_ordering=True"},
          {"c sched scheduler1"},
          {"s sched scheduler1 policy=p1"}},
         {{"policy p1", "by_queue", "False"},
          {"policy p1", "strict_ordering", "True"},
          {"policy p1", "round_robin", "False"},
          {"sched scheduler1", "policy", "p1"}}},
        {"Interface1_OnePolicyServesSeveralSchedulers",
         {{"c policy p1"},
          {"c sched scheduler1"},
          {"s sched scheduler1 policy=p1"},
          {"s sched default policy=p1"}},
         {{"sched scheduler1", "policy", "p1"}, {"sched default", "policy", "p1"}}},
        {"Interface1_PolicyIsDeletedOnlyWhenNotAssigned",
         {{"c policy p1"},
          {"c policy p2"},
          {"s sched default policy=p1"},
          {"d policy p1", "policy p1 is in use by sched default"},
          {"d policy p2"}},
         {{"policy p1", "by_queue", "True"}, {"policy p2", "by_queue", "(none)"}}},
        {"Interface1_SlotsForPrimeAndNonPrimeTime",
         {{"c policy p1"},
          {"c policy p2"},
          {"c sched sched1"},
          {"s sched sched1 policy+='p:p1'",
           "Cannot set prime/non-prime time policy without setting an all time policy"},
          {"s sched sched1 policy=default_policy"},
          {"s sched sched1 policy=p:p1,np:p2"},
          {"s sched sched1 policy='p1,p:p1,p:p2'", "more than one prime-time (p:) policy"}},
         {{"sched sched1", "policy", "default_policy,p:p1,np:p2"}}},
        {"Interface1_UnsetEmptiesAllSlots",
         {{"c policy p1"},
          {"s sched default policy=p1,p:p1"},
          {"unset sched default policy"},
          {"d policy p1"}},
         {{"sched default", "policy", "(none)"}}},
        {"Interface1_DefaultPolicyIsAssignedAndStays",
         {{"d policy default_policy", "default_policy cannot be deleted"}},
         {{"sched default", "policy", "default_policy"}, {"policy default_policy", "log_event", "4607"}}},
        {"Interface1_FairshareNeedsItsGroup",
         {{"c policy p1"},
          {"s p p1 fairshare=True", "fairshare can't be True while fairshare_group is not set"},
          {"c fs_group fs_grp1"},
          {"s p p1 fairshare_group=fs_grp1"},
          {"s p p1 fairshare=True"},
          {"u p p1 fairshare_group", "fairshare can't be True"},
          {"d f fs_grp1", "fs_group fs_grp1 is in use by policy p1"}},
         {{"policy p1", "fairshare", "True"}, {"policy p1", "fairshare_group", "fs_grp1"}}},
        {"Interface1_QueuesOfAPolicyExistAndStay",
         {{"c policy p1"},
          {"s policy p1 dedicated_queues='queue1,queue2'", "there is no queue 'queue1'"},
          {"c queue queue1 queue_type=execution"},
          {"c queue queue2 queue_type=execution"},
          {"s policy p1 dedicated_queues='queue1,queue2'"},
          {"d queue queue2", "queue queue2 is in use by policy p1 (dedicated_queues)"}},
         {{"policy p1", "dedicated_queues", "queue1,queue2"}, {"queue queue2", "queue_type", "Execution"}}},
        {"Interface1_ResourcesOfAPolicyExistAndStay",
         {{"c policy p1"},
          {"s policy p1 exclude_resources='vmem, color'", "'color' is not a resource of this server"},
          {"c resource color type=string"},
          {"s policy p1 exclude_resources='vmem, color'"},
          {"d resource color", "resource color is in use by policy p1 (exclude_resources)"},
          {"c resource shade type=string"},
          {"d resource shade"},
          {"s policy p1 job_sort_key='shade HIGH'", "'shade' is not a resource of this server"}},
         {{"policy p1", "exclude_resources", "vmem,color"}, {"policy p1", "job_sort_key", "(none)"}}},
        {"Interface1_ProgramsOfAPolicyAreThere",
         {{"c policy p1"},
          {"s policy p1 server_dyn_res='mem !/nowhere/get_mem'",
           "/nowhere/get_mem: No such file or directory"},
          {"s policy p1 server_dyn_res='mem !/bin/true'"}},
         {{"policy p1", "server_dyn_res", "mem !/bin/true"}}},
        {"Interface1_FormulasAreRefusedWithThePosition",
         {{"c policy p1"},
          {"s policy p1 job_sort_formula='ncpus*speed'", "at position 7: unknown name 'speed'"},
          {"s policy p1 job_sort_formula='ncpus*walltime'"}},
         {{"policy p1", "job_sort_formula", "ncpus*walltime"}}},
        {"Interface2_WindowsOfAQueueDontOverlap",
         {{"c time_window t1"},
          {"s t t1 rrule='FREQ=DAILY', start_time=0600, end_time=0900"},
          {"c time_window t2 rrule='FREQ=WEEKLY;BYDAY=SU', start_time=0859, end_time=1000"},
          {"c queue q1 queue_type=execution"},
          {"c queue q2 queue_type=execution"},
          {"s queue q1 time_window=t1"},
          {"s queue q2 time_window=t1"},
          // The bundled server's clock starts on Monday, 2026-11-23. OpenPBS's is that of the machine.
          {"s queue q1 time_window+=t2",
           of_host("time_windows t1 and t2 of queue q1 overlap, first on 2026-11-29 08:59:00",
                   "time_windows t1 and t2 of queue q1 overlap, first on 2")},
          {"s t t2 start_time=0900"},
          {"s queue q1 time_window+=t2"},
          {"s t t1 end_time=0901", "of queue q1 overlap"}},
         {{"queue q1", "time_window", "t1,t2"},
          {"queue q2", "time_window", "t1"},
          {"time_window t1", "end_time", "09:00:00"}}},
        {"Interface2_WindowIsDeletedOnlyWhenNoQueueHasIt",
         {{"c time_window t1 rrule='FREQ=DAILY'"},
          {"c queue q1 queue_type=execution"},
          {"s queue q1 time_window=t1"},
          {"d time_window t1", "time_window t1 is in use by queue q1"},
          {"u queue q1 time_window"},
          {"d time_window t1"}},
         {{"queue q1", "time_window", "(none)"}, {"time_window t1", "rrule", "(none)"}}},
        {"Interface3_NonWorkDaysAreSetModifiedAndUnset",
         {{"set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\""},
          {"set server non_work_days += \"FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5\""},
          {"set server non_work_days += \"FREQ=WEEKLY;BYDAY=FR;INTERVAL=2\""},
          {"set server non_work_days -= \"FREQ=WEEKLY;BYDAY=FR;INTERVAL=2\""},
          {"set server non_work_days += 02/30", "02/30"}},
         {{"server", "non_work_days",
           "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1,FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5"}}},
        {"Interface4_FsGroupHasItsDefaultsAtOnce",
         {{"create fs_group f1"},
          {"set fs_group f1 usage_formula = \"cput*fs_factor\""},
          {"set fs_group f1 decay_time=18:00:00"},
          {"set fs_group f1 decay_factor=1.5",
           "decay_factor: bad value '1.5': expected a number from 0 to 1"},
          {"set fs_group f1 tree_element='a:b=1'", "expected root or another element"}},
         {{"fs_group f1", "usage_formula", "cput*fs_factor"},
          {"fs_group f1", "decay_time", "18:00:00"},
          {"fs_group f1", "entity", "euser"},
          {"fs_group f1", "decay_factor", "0.5"},
          {"fs_group f1", "enforce_no_shares", "False"},
          {"fs_group f1", "unknown_shares", "10"}}},
        {"Interface6_BackfillDepthAndFormulaBelongToPolicies",
         {{"c policy p1"}, {"s policy p1 backfill_depth = 3, job_sort_formula='ncpus*walltime'"}},
         {{"policy p1", "backfill_depth", "3"}, {"policy p1", "job_sort_formula", "ncpus*walltime"}}},
    };
    return table;
}

void PrintTo(const Statement& statement, std::ostream* out) {
    *out << statement.name;
}

class Pp748 : public ::testing::TestWithParam<Statement> {};

TEST_P(Pp748, HoldsAndSurvivesARestart) {
    Server server;
    ASSERT_TRUE(server.start());
    for (const Step& step : GetParam().steps) {
        const Output done = server.qmgr(step.directive);
        EXPECT_EQ(done.exit == 0, step.answer.empty()) << step.directive << ": " << done;
        EXPECT_THAT(besides_not_acted_on(done.err),
                    step.answer.empty() ? ::testing::Matcher<std::string>("")
                                        : ::testing::Matcher<std::string>(HasSubstr(step.answer)))
            << step.directive;
    }
    const auto check = [&](const char* when) {
        for (const Shown& shown : GetParam().shown)
            EXPECT_EQ(server.attribute(shown.object, shown.attribute), shown.value)
                << shown.object << " " << shown.attribute << " " << when;
    };
    check("at once");
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    check("after a restart");
}

INSTANTIATE_TEST_SUITE_P(Statements, Pp748, ::testing::ValuesIn(statements()),
                         [](const auto& statement) { return statement.param.name; });

}  // namespace
}  // namespace pbs::e2e
