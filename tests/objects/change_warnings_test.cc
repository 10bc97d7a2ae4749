// Tests warnings about settings that have no effect because of other objects.
#include "objects/change_warnings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ChangeWarnings : public StoreTest {
  protected:
    static std::string closing_of(std::string_view window) {
        return fmt::format(
            "time_window {}: at_close has no effect: no scheduler has a policy of algorithm standard",
            window);
    }
};

// Only the standard algorithm stops jobs at the end of a time_window.
TEST_F(ChangeWarnings, AtCloseNeedsASchedulerOfAlgorithmStandard) {
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("c t t1 rrule=FREQ=DAILY, at_close=suspend").warnings, IsEmpty())
        << "no scheduler has a policy yet";
    EXPECT_THAT(run("s sched default policy=o1").warnings, ElementsAre(closing_of("t1")));
    EXPECT_THAT(run("s t t1 comment=nights").warnings, IsEmpty());
    EXPECT_THAT(run("s t t1 at_close=requeue").warnings, ElementsAre(closing_of("t1")));
    EXPECT_THAT(run("s t t1 at_close=run").warnings, IsEmpty());
    EXPECT_THAT(run("c t t2 rrule=FREQ=DAILY, at_close=requeue").warnings, ElementsAre(closing_of("t2")));
    EXPECT_THAT(run("c t t3 rrule=FREQ=DAILY").warnings, IsEmpty());

    run("c sched s2");
    EXPECT_THAT(run("s sched s2 policy=default_policy").warnings, IsEmpty());
    EXPECT_THAT(run("s t t2 at_close=suspend").warnings, IsEmpty());
    EXPECT_THAT(run("s sched s2 policy=o1").warnings, ElementsAre(closing_of("t2")));
    EXPECT_THAT(run("s sched s2 policy='o1,np:default_policy'").warnings, IsEmpty());
    EXPECT_THAT(run("s t t1 at_close=suspend").warnings, IsEmpty());
    EXPECT_THAT(run("s p default_policy algorithm=external").warnings, Not(Contains(closing_of("t1"))))
        << "nothing else could schedule here";
    EXPECT_THAT(run("s p default_policy algorithm=origin").warnings,
                ElementsAre(closing_of("t1"), closing_of("t2")));
    run("s p default_policy algorithm=standard");
    EXPECT_THAT(run("d sched s2").warnings, ElementsAre(closing_of("t1"), closing_of("t2")))
        << "the only one with such a policy";
}

TEST_F(ChangeWarnings, ThousandsOfTimeWindowsGetTenLines) {
    run("c p o1 algorithm=origin");
    for (int i = 0; i < 30; ++i) run(fmt::format("c t t{} rrule=FREQ=DAILY, at_close=suspend", i));
    EXPECT_THAT(run("s sched default policy=o1").warnings, SizeIs(10));
}

TEST_F(ChangeWarnings, FunctionalTicketsNeedSharesOrJobsThatAskForThem) {
    const char* const without =
        "policy p1: tickets_functional gives tickets only to jobs that ask for job_shares: set "
        "functional_shares to "
        "give some to users, groups, projects or queues";
    run("c p p1 weight_tickets=1, weighted_priority=True");
    EXPECT_THAT(run("s p p1 tickets_functional=100").warnings, ElementsAre(without));
    EXPECT_THAT(run("s p p1 comment=x").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 functional_shares=\"[u:ann=1]\"").warnings, IsEmpty());
    EXPECT_THAT(run("u p p1 functional_shares").warnings, ElementsAre(without));
    EXPECT_THAT(run("s p p1 tickets_functional=0").warnings, IsEmpty());
}

TEST_F(ChangeWarnings, FairshareGoesBeforeOtherOrders) {
    const auto first = [](std::string_view what) {
        return fmt::format(
            "policy p1: fairshare goes first: {} orders only the jobs of one entity, or of entities that "
            "stand "
            "equal",
            what);
    };
    run("c f f1");
    run("c p p1 fairshare_group=f1, by_queue=False");
    EXPECT_THAT(run("s p p1 fairshare=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 weighted_priority=True").warnings, ElementsAre(first("weighted_priority")));
    EXPECT_THAT(run("s p p1 tickets_share=100").warnings, ElementsAre(first("tickets_share")));
    EXPECT_THAT(run("s p p1 comment=x").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 fairshare=False").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 fairshare=True").warnings,
                ElementsAre(first("weighted_priority"), first("tickets_share")));
}

TEST_F(ChangeWarnings, TheOrderOfQueuesGoesBeforeAWeightedPriority) {
    const auto first = [](std::string_view what) {
        return fmt::format("policy p1: {} goes first: weighted_priority orders only the jobs of one queue",
                           what);
    };
    run("c p p1");
    EXPECT_THAT(run("s p p1 weighted_priority=True").warnings, ElementsAre(first("by_queue")))
        << "by default";
    EXPECT_THAT(run("s p p1 comment=x").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 by_queue=False").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 weighted_priority=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 round_robin=True").warnings, ElementsAre(first("round_robin")));
    EXPECT_THAT(run("u p p1 by_queue").warnings, IsEmpty()) << "with round_robin it has no effect";
    EXPECT_THAT(run("s p p1 round_robin=False").warnings, ElementsAre(first("by_queue")));
    EXPECT_THAT(run("s p p1 by_queue=True").warnings, ElementsAre(first("by_queue")));
    EXPECT_THAT(run("s p p1 weighted_priority=False").warnings, IsEmpty());
    run("c p p2 by_queue=False");
    EXPECT_THAT(run("s p p2 weighted_priority=True").warnings, IsEmpty());
}

}  // namespace
}  // namespace pbs::objects
