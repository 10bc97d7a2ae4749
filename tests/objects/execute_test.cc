#include "objects/execute.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::HasSubstr;

class ExecuteTest : public StoreTest {};

TEST_F(ExecuteTest, CreateSetUnsetDelete) {
    run("c policy p1");
    run("s p p1 by_queue=False, strict_ordering=True");
    EXPECT_FALSE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("strict_ordering"));
    run("unset policy p1 by_queue, strict_ordering");
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    run("delete policy p1");
    EXPECT_EQ(store_->snapshot()->policy("p1"), nullptr);
}

TEST_F(ExecuteTest, CreateWithAttributesIsOneCommand) {
    run("create policy p1 by_queue=False, strict_ordering=True");
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("strict_ordering"));
    refused("create policy p2 by_queue=False, strict_ordering=Perhaps");
    EXPECT_EQ(store_->snapshot()->policy("p2"), nullptr);
}

TEST_F(ExecuteTest, ErrorsHaveTheNumbersOfPbs) {
    run("c p p1");
    EXPECT_EQ(refused("c p p1").code, Code::exists);
    EXPECT_EQ(refused("d p p2").code, Code::unknown_object);
    EXPECT_EQ(refused("s t t9 type=prime").code, Code::unknown_object);
    EXPECT_EQ(refused("u f f9 comment").code, Code::unknown_object);
    EXPECT_EQ(refused("s p p1 colour=red").code, Code::unknown_attribute);
    EXPECT_EQ(refused("u p p1 colour").code, Code::unknown_attribute);
    EXPECT_EQ(refused("s p p1 by_queue=perhaps").code, Code::bad_value);
    EXPECT_EQ(refused("s p p1").code, Code::invalid_request);
    EXPECT_EQ(refused("d s").code, Code::invalid_request);
    EXPECT_EQ(refused("c p 1p").code, Code::bad_value);
    EXPECT_EQ(refused("c p " + std::string(65, 'a')).code, Code::name_too_long);
    EXPECT_EQ(refused("s p " + std::string(5000, 'a') + " by_queue=True").code, Code::name_too_long);
    EXPECT_EQ(refused("s p p1 comment=" + std::string(65537, 'a')).code, Code::bad_value);
    EXPECT_EQ(static_cast<int>(Code::unknown_object), 15212);
}

TEST_F(ExecuteTest, MessagesNameObjectAttributeAndValue) {
    run("c p p1");
    EXPECT_EQ(refused("s p p1 by_queue=perhaps").message,
              "policy p1: by_queue: bad value 'perhaps': expected True or False");
    EXPECT_EQ(refused("s p p1 colour=red").message, "policy p1: unknown attribute 'colour'");
    EXPECT_EQ(refused("c p p1").message, "policy p1 exists already");
    EXPECT_EQ(refused("d p p2").message, "there is no policy 'p2'");
}

TEST_F(ExecuteTest, NamesHaveALetterFirstAndAtMost64Characters) {
    for (const char* name : {"a", "A-1_b.c", "x64"}) run(std::string("c p ") + name);
    run("c p " + std::string(64, 'b'));
    for (const char* name : {"1a", "-a", "a$b", "a/b", "a@b", "_a", "\xc3\xa4"})
        refused(std::string("c p ") + name);
}

TEST_F(ExecuteTest, FailedCommandChangesNothing) {
    run("c p p1");
    refused("s p p1 by_queue=False, comment=x, backfill_depth=-1");
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    EXPECT_FALSE(store_->snapshot()->policy("p1")->has("comment"));
    open();
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("by_queue"));
}

TEST_F(ExecuteTest, AttributeNamesAreTakenWithoutRegardToCase) {
    run("c p p1 BY_QUEUE=False");
    EXPECT_FALSE(store_->snapshot()->policy("p1")->boolean("by_queue"));
}

TEST_F(ExecuteTest, SettingTheSameAgainIsNoChange) {
    run("c p p1 comment=x");
    const std::uint64_t revision = store_->snapshot()->revision();
    EXPECT_FALSE(run("s p p1 comment=x").changed);
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    EXPECT_EQ(store_->history({})->back().revision, revision);
}

TEST_F(ExecuteTest, FairshareNeedsAGroup) {
    run("c p p1");
    EXPECT_THAT(refused("s p p1 fairshare=True").message, HasSubstr("fairshare_group"));
    run("c f f1");
    run("s p p1 fairshare=True, fairshare_group=f1");  // one command may set both, in either order
    refused("u p p1 fairshare_group");
    run("u p p1 fairshare_group, fairshare");
    run("s p p1 fairshare_group=f1");  // two commands may set them one after the other
    run("s p p1 fairshare=True");
}

TEST_F(ExecuteTest, FreshFsGroupCanBePutIntoUseAtOnce) {
    run("c f f1");
    run("s p default_policy fairshare_group=f1, fairshare=True");
}

TEST_F(ExecuteTest, TreesGrowAndShrinkByElements) {
    run("c f f1 tree_element=[ group01:root = 30 ]");
    run("s f f1 tree_element += \"user1:group01=5, user2:group01=3\"");
    EXPECT_EQ(shown(ObjectType::fs_group, "f1", "tree_element"),
              "group01:root=30,user1:group01=5,user2:group01=3");
    refused("s f f1 tree_element -= group01");  // refused, as it is the parent of others
    refused("s f f1 tree_element += \"user1:root=5\"");
    run("s f f1 tree_element -= user2");
    run("s f f1 tree_element -= \"user1:group01 = 5\"");
    EXPECT_EQ(shown(ObjectType::fs_group, "f1", "tree_element"), "group01:root=30");
    std::string chain = "g1:root=1";
    for (int level = 2; level <= 64; ++level) chain += fmt::format(",g{}:g{}=1", level, level - 1);
    run(fmt::format("s f f1 tree_element = \"{}\"", chain));
    refused("s f f1 tree_element += \"g65:g64=1\"");
}

TEST_F(ExecuteTest, NonWorkDaysAreKeptAsRules) {
    run("set server non_work_days = \"FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"");
    run("set server non_work_days += \"FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5\"");
    run("set server non_work_days += \"FREQ=WEEKLY;BYDAY=MO,FR;INTERVAL=2\"");
    ASSERT_EQ(store_->snapshot()->non_work_days().size(), 3U);
    EXPECT_FALSE(run("set server non_work_days += \"01/01\"").changed);  // the list has this rule already
    run("set server non_work_days += \"12/25, 07/03/2026\"");
    EXPECT_EQ(store_->snapshot()->non_work_days().size(), 5U);
    EXPECT_EQ(store_->snapshot()->non_work_days()[3], "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    // setting the attribute to the value that qmgr lists changes nothing
    const std::string listed = shown(ObjectType::server, "", "non_work_days");
    EXPECT_FALSE(
        store_
            ->execute({CommandKind::set, ObjectType::server, "", {{"non_work_days", listed}}}, kManager, kNow)
            ->changed);
    run("set server non_work_days -= 12/25");
    EXPECT_EQ(store_->snapshot()->non_work_days().size(), 4U);
    EXPECT_THAT(refused("set server non_work_days += 13/01").message, HasSubstr("13/01"));
    EXPECT_THAT(refused("set server non_work_days += 02/30/2026").message, HasSubstr("02/30/2026"));
    run("unset server non_work_days");
    EXPECT_TRUE(store_->snapshot()->non_work_days().empty());
}

// In a policy with algorithm origin, a queue can't have two roles, as Origin's scheduler refused to start
// with such settings.
TEST_F(ExecuteTest, AQueueOfAnOriginPolicyHasOnePart) {
    for (const char* queue : {"a", "b", "c", "d", "s", "s2"}) store_->define_queue(queue);
    run("c p o algorithm=origin, submit_queue=a, batch_queues=\"b,c\", special_queue=s, dedicated_queues=d");
    EXPECT_EQ(
        refused("s p o submit_queue=s").message,
        "policy o: submit_queue: bad value 's': the queue is in special_queue too, expected another one");
    EXPECT_THAT(refused("s p o submit_queue=c").message, HasSubstr("the queue is in batch_queues too"));
    EXPECT_THAT(refused("s p o submit_queue=d").message, HasSubstr("the queue is in dedicated_queues too"));
    EXPECT_THAT(refused("s p o batch_queues += a").message, HasSubstr("submit_queue: bad value 'a'"));
    EXPECT_THAT(refused("s p o special_queue=b").message, HasSubstr("special_queue: bad value 'b'"));
    EXPECT_THAT(refused("s p o dedicated_queues += b").message, HasSubstr("dedicated_queues: bad value 'b'"));
    run("s p o submit_queue=s, special_queue=a");
    run("s p o dedicated_queues += s2");
    // with another algorithm, a queue may have two roles; then the policy can't get algorithm origin
    run("c p n algorithm=standard, submit_queue=a, special_queue=a");
    EXPECT_THAT(refused("s p n algorithm=origin").message, HasSubstr("the queue is in special_queue too"));
}

TEST_F(ExecuteTest, QueueAndSchedObjectsFollowTheHosts) {
    run("c t t1 rrule=FREQ=DAILY");
    run("c q q1");
    run("s q q1 time_window=t1");
    run("d q q1");
    run("d t t1");  // possible, as q1, which had t1, is deleted
    run("c sched s2");
    run("s sched s2 policy=default_policy");
    run("d sched s2");
    EXPECT_TRUE(store_->snapshot()->policy_slots("s2").empty());
}

TEST_F(ExecuteTest, StartOfAWindowIsBefore24) {
    run("c t t1");
    EXPECT_THAT(refused("s t t1 start_time=24:00").message, HasSubstr("start_time"));
    run("s t t1 end_time=24:00");
    run("s t t1 rrule=FREQ=DAILY");
    refused("s t t1 start_time=24:00");
}

TEST_F(ExecuteTest, ApplyHoldsTogetherOrNotAtAll) {
    ChangeSet changes;
    for (const char* text : {"c p p1", "s sched default policy=p1", "c t t1 rrule=FREQ=NEVER"}) {
        changes.commands.push_back(parse_command(text));
    }
    const auto failed = store_->apply(changes, kManager, kNow);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().command, 2);
    EXPECT_THAT(failed.error().message, HasSubstr("create time_window t1"));
    EXPECT_EQ(store_->snapshot()->policy("p1"), nullptr);
    changes.commands.back() = parse_command("c t t1 rrule=FREQ=DAILY");
    const std::uint64_t revision = store_->snapshot()->revision();
    const auto applied = store_->apply(changes, kManager, kNow);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(applied->revision, revision + 3);
    EXPECT_EQ(store_->history({})->size(), revision + 3);
    open();
    EXPECT_EQ(store_->snapshot()->policy_slots("default").all_time, "p1");
}

}  // namespace
}  // namespace pbs::objects
