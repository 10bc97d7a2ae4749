#include "objects/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::objects {
namespace {

Object policy(const std::string& name, bool by_queue = true) {
    Object object(ObjectType::policy, name);
    object.assign(*find_attribute(ObjectType::policy, "by_queue"), by_queue);
    return object;
}

std::string names(const std::vector<ObjectChange>& changes) {
    std::string text;
    for (const ObjectChange& change : changes) {
        text += change.before ? change.after ? "=" : "-" : "+";
        text += change.name + " ";
    }
    return text;
}

TEST(Draft, TellsWhatDiffersFromTheBase) {
    Draft first(std::make_shared<const Snapshot>());
    first.put(policy("p1"));
    first.put(policy("p2"));
    Draft draft(first.finish(1));
    draft.put(policy("p1", false));
    draft.put(policy("p2"));  // equal to the stored policy, so it isn't a change
    draft.put(policy("p3"));
    draft.erase(ObjectType::policy, "p4");
    EXPECT_EQ(names(draft.changes()), "=p1 +p3 ");
    const auto snapshot = draft.finish(2);
    EXPECT_EQ(snapshot->revision(), 2U);
    EXPECT_FALSE(snapshot->policy("p1")->boolean("by_queue"));
    EXPECT_EQ(snapshot->objects(ObjectType::policy).size(), 3U);
}

TEST(Draft, GoesBackToItsMarkAndNoFurther) {
    Draft draft(std::make_shared<const Snapshot>());
    draft.put(policy("p1"));
    draft.mark();
    draft.put(policy("p1", false));
    draft.put(policy("p2"));
    draft.put(policy("p2", false));
    draft.erase(ObjectType::policy, "p1");
    EXPECT_EQ(names(draft.changes_since_mark()), "-p1 +p2 ");
    draft.revert_to_mark();
    EXPECT_EQ(names(draft.changes_since_mark()), "");
    EXPECT_EQ(names(draft.changes()), "+p1 ");
    EXPECT_TRUE(draft.find(ObjectType::policy, "p1")->boolean("by_queue"));
    EXPECT_EQ(draft.find(ObjectType::policy, "p2"), nullptr);
}

}  // namespace
}  // namespace pbs::objects
