#include "objects/object_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "objects/snapshot.h"
#include "tests/cases.h"

namespace pbs::objects {
namespace {

using Model = std::map<std::string, ObjectPtr>;

ObjectPtr object(const std::string& name) {
    return std::make_shared<const Object>(ObjectType::policy, name);
}

ObjectList list_of(const Model& objects) {
    std::vector<ObjectList::Change> changes(objects.begin(), objects.end());
    return ObjectList().with(changes);
}

void expect_same(const ObjectList& list, const Model& model) {
    ASSERT_EQ(list.size(), model.size());
    auto expected = model.begin();
    for (const ObjectPtr& one : list) {
        ASSERT_EQ(one, expected->second) << expected->first;
        ++expected;
    }
    EXPECT_EQ(expected, model.end());
}

// Returns the objects that differ between two models, in the form in which for_each_difference() reports
// them.
std::vector<std::pair<ObjectPtr, ObjectPtr>> differences(const Model& from, const Model& to) {
    std::vector<std::pair<ObjectPtr, ObjectPtr>> result;
    Model names = from;
    names.insert(to.begin(), to.end());
    for (const auto& [name, unused] : names) {
        const auto a = from.find(name);
        const auto b = to.find(name);
        const ObjectPtr before = a == from.end() ? nullptr : a->second;
        const ObjectPtr after = b == to.end() ? nullptr : b->second;
        if (before != after) result.emplace_back(before, after);
    }
    return result;
}

TEST(ObjectList, IsEmptyAtFirst) {
    const ObjectList list;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.begin(), list.end());
    EXPECT_EQ(list.find("p"), nullptr);
    EXPECT_TRUE(list.with(std::vector<ObjectList::Change>{{"p", nullptr}}).empty());
}

// Puts and removes random objects in a list and in a map, singly and many at once, so that the list's chunks
// grow, split, shrink and join. The list and the map have the same objects afterwards.
TEST(ObjectList, DoesAsAMapDoes) {
    std::mt19937 random(4711);
    Model model;
    ObjectList list;
    for (int round = 0; round < pbs::test::cases(1500); ++round) {
        const Model before = model;
        const ObjectList old = list;
        const bool grows = round % 100 < 60;
        const unsigned count = round % 7 == 0 ? 300 : 1 + random() % 5;
        Model changes;
        for (unsigned i = 0; i < count; ++i) {
            const std::string name = "p" + std::to_string(random() % 2000);
            changes[name] = random() % 10 < (grows ? 8U : 2U) ? object(name) : nullptr;
        }
        for (const auto& [name, one] : changes) {
            if (one) {
                model[name] = one;
            } else {
                model.erase(name);
            }
        }
        list = list.with(std::vector<ObjectList::Change>(changes.begin(), changes.end()));
        expect_same(list, model);
        expect_same(old, before);
        std::vector<std::pair<ObjectPtr, ObjectPtr>> told;
        ObjectList::for_each_difference(
            old, list, [&](const ObjectPtr& was, const ObjectPtr& is) { told.emplace_back(was, is); });
        EXPECT_EQ(told, differences(before, model));
        for (const std::string name : {"p0", "p1000", "p1999", "a", "z"}) {
            const auto at = model.find(name);
            EXPECT_EQ(list.find(name), at == model.end() ? nullptr : at->second);
        }
    }
    EXPECT_GT(model.size(), 100U) << "the test has to reach more than one chunk";
}

// A list has 10,000 objects in chunks. A change of one object copies only the objects of its chunk; the new
// list shares all others with the old one.
TEST(ObjectList, SharesWhatDidNotChange) {
    Model model;
    for (int i = 0; i < 10000; ++i) {
        const std::string name = "p" + std::to_string(10000 + i);
        model[name] = object(name);
    }
    const ObjectList list = list_of(model);
    const std::string name = "p15000";
    const long before = model[name].use_count();
    const long neighbour = model["p19999"].use_count();
    const ObjectList changed = list.with(std::vector<ObjectList::Change>{{name, object(name)}});
    EXPECT_EQ(model["p19999"].use_count(), neighbour) << "it was copied with another chunk";
    EXPECT_EQ(model[name].use_count(), before);
    long copied = 0;
    for (const auto& [other, one] : model) copied += one.use_count() > 2 ? 1 : 0;
    EXPECT_LT(copied, 200);
    EXPECT_FALSE(changed.is(list));
    EXPECT_TRUE(ObjectList(list).is(list));
}

}  // namespace
}  // namespace pbs::objects
