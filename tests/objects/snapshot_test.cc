#include "objects/snapshot.h"

#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class SnapshotTest : public StoreTest {};

TEST_F(SnapshotTest, GettersAnswerWithValueThenDefaultThenZero) {
    run("c p p1 max_starve=90, node_sort_key=\"ncpus LOW\", decay_factor=.25, ssinode_mem=1gb");
    const Object& policy = *store_->snapshot()->policy("p1");
    EXPECT_EQ(policy.seconds("max_starve"), std::chrono::seconds(90));
    EXPECT_TRUE(policy.is_set("max_starve"));
    EXPECT_THAT(policy.list("node_sort_key"), testing::ElementsAre("ncpus LOW"));
    EXPECT_EQ(policy.real("decay_factor"), 0.25);
    EXPECT_EQ(*policy.value("ssinode_mem"), Value(Size{1 << 30}));
    EXPECT_TRUE(policy.boolean("by_queue"));
    EXPECT_FALSE(policy.is_set("by_queue"));
    EXPECT_TRUE(policy.has("by_queue"));
    EXPECT_EQ(policy.integer("backfill_depth"), 1);
    EXPECT_EQ(policy.text("preempt_order"), "SCR");
    EXPECT_FALSE(policy.has("comment"));
    EXPECT_EQ(policy.text("comment"), "");
    EXPECT_TRUE(policy.list("batch_queues").empty());
}

TEST_F(SnapshotTest, DatedBooleansHaveTheirDate) {
    run("c p p1 enforce_prime_time=11/01/1999@02:00:00");
    const Object& policy = *store_->snapshot()->policy("p1");
    EXPECT_EQ(std::get<BooleanOrDate>(*policy.value("enforce_prime_time")).from,
              (LocalTime{1999, 11, 1, 2, 0, 0}));
    EXPECT_EQ(shown(ObjectType::policy, "p1", "enforce_prime_time"), "11/01/1999@02:00:00");
}

TEST_F(SnapshotTest, StaysAsItWasWhileTheStoreChanges) {
    run("c p p1 comment=before");
    const auto old = store_->snapshot();
    const Object* other = old->policy("default_policy");
    const Reply reply = run("s p p1 comment=after");
    EXPECT_EQ(old->policy("p1")->text("comment"), "before");
    EXPECT_EQ(reply.snapshot->policy("p1")->text("comment"), "after");
    EXPECT_GT(reply.snapshot->revision(), old->revision());
    // both snapshots share the objects that haven't changed
    EXPECT_EQ(reply.snapshot->policy("default_policy"), other);
    EXPECT_TRUE(reply.snapshot->objects(ObjectType::sched).is(old->objects(ObjectType::sched)));
}

TEST_F(SnapshotTest, ObjectsAreInTheOrderOfNames) {
    for (const char* name : {"m", "b", "z", "a"}) run(std::string("c t ") + name);
    run("d t m");
    std::vector<std::string> names;
    for (const ObjectPtr& window : store_->snapshot()->objects(ObjectType::time_window))
        names.push_back(window->name());
    EXPECT_THAT(names, testing::ElementsAre("a", "b", "z"));
    EXPECT_EQ(store_->snapshot()->time_window("m"), nullptr);
}

TEST_F(SnapshotTest, AKeptTextIsMadeOnceAndIsTheObjectsOwn) {
    int made = 0;
    const auto text = [&made](const Object& object) {
        return object.kept_text([&] {
            ++made;
            return object.name() + " " + std::string(object.text("comment"));
        });
    };
    run("c p p1 comment=before");
    const auto old = store_->snapshot();
    EXPECT_EQ(text(*old->policy("p1")), "p1 before");
    EXPECT_EQ(text(*old->policy("p1")), "p1 before");
    EXPECT_EQ(made, 1);
    run("s p p1 comment=after");
    EXPECT_EQ(text(*store_->snapshot()->policy("p1")), "p1 after");
    EXPECT_EQ(text(*old->policy("p1")), "p1 before");
    EXPECT_EQ(made, 2);
    // a copy may be changed, so it makes its own text
    Object copy = *old->policy("p1");
    EXPECT_EQ(copy, *old->policy("p1"));
    copy.assign(*find_attribute(ObjectType::policy, "comment"), Value(std::string("copied")));
    EXPECT_EQ(text(copy), "p1 copied");
    copy.clear(*find_attribute(ObjectType::policy, "comment"));
    EXPECT_EQ(text(copy), "p1 ");
    copy = *old->policy("p1");
    EXPECT_EQ(text(copy), "p1 before");
}

TEST_F(SnapshotTest, WindowsByType) {
    run("c t a type=prime");
    run("c t b");
    run("c t c type=prime");
    EXPECT_EQ(store_->snapshot()->time_windows_of_type("prime").size(), 2U);
    EXPECT_EQ(store_->snapshot()->time_windows_of_type("standard").size(), 1U);
    EXPECT_TRUE(store_->snapshot()->time_windows_of_type("dedicated").empty());
}

}  // namespace
}  // namespace pbs::objects
