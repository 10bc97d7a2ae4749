#include "ifl/cmds/config_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

constexpr const char* kBefore = R"({"format": 1, "server": {}, "queue": {"q1": {"time_window": ["t1"]}},
  "sched": {"default": {"policy": ["p1"]}},
  "policy": {"p1": {"by_queue": "False", "comment": "x, y"}, "p2": {}},
  "time_window": {"t1": {"rrule": "FREQ=DAILY"}}, "fs_group": {}})";
constexpr const char* kAfter = R"({"format": 1,
  "server": {"non_work_days": ["FREQ=WEEKLY;BYDAY=SA,SU", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"]},
  "queue": {}, "sched": {"default": {"policy": ["p1", "p:p3"]}},
  "policy": {"p1": {"comment": {"hex": "e9"}}, "p3": {"fairshare_group": "g1"}},
  "time_window": {}, "fs_group": {"g1": {"tree_element": ["a:root=1"]}}})";

TEST(ConfigDiff, ShowsWhatGoesAndWhatComes) {
    const auto changes = config_diff(kBefore, kAfter, "");
    ASSERT_TRUE(changes);
    EXPECT_EQ(diff_text(*changes),
              "server\n"
              "+    non_work_days = FREQ=WEEKLY;BYDAY=SA,SU,FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\n"
              "queue q1\n"
              "-    time_window = t1\n"
              "sched default\n"
              "-    policy = p1\n"
              "+    policy = p1,p:p3\n"
              "policy p1\n"
              "-    by_queue = False\n"
              "-    comment = x, y\n"
              "+    comment = \xe9\n"
              "policy p2 (deleted)\n"
              "policy p3 (created)\n"
              "+    fairshare_group = g1\n"
              "time_window t1 (deleted)\n"
              "-    rrule = FREQ=DAILY\n"
              "fs_group g1 (created)\n"
              "+    tree_element = a:root=1\n");
}

TEST(ConfigDiff, DirectivesRespectReferences) {
    const auto changes = config_diff(kBefore, kAfter, "");
    ASSERT_TRUE(changes);
    EXPECT_EQ(diff_directives(*changes),
              "create fs_group g1 tree_element = a:root=1\n"
              "unset queue q1 time_window\n"
              "set policy p1 comment = \xe9\n"
              "unset policy p1 by_queue\n"
              "create policy p3 fairshare_group = g1\n"
              "set server non_work_days = \"FREQ=WEEKLY;BYDAY=SA,SU,FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1\"\n"
              "set sched default policy = \"p1,p:p3\"\n"
              "delete policy p2\n"
              "delete time_window t1\n");
}

TEST(ConfigDiff, QueuesComeAndGoWhereTheServerTellsOfThem) {
    const auto changes = config_diff(
        R"({"format": 1, "queue": {"q1": {"time_window": ["t1"]}},
            "host": {"queue": {"q1": {"queue_type": "Execution"}, "q2": {}}, "node": {"n1": {}}}})",
        R"({"format": 1, "queue": {"q1": {"time_window": ["t2"]}},
            "host": {"queue": {"q1": {"queue_type": "Execution", "Priority": "3"}},
                     "resource": {"fuel": {"type": "long"}}}})",
        "");
    ASSERT_TRUE(changes);
    EXPECT_EQ(diff_directives(*changes),
              "delete node n1\n"
              "create resource fuel type = long\n"
              "set queue q1 time_window = t2, Priority = 3\n"
              "delete queue q2\n");
    // Only the part "host" of a document says which queues exist. So queues are compared only if both
    // documents have it.
    const auto half = config_diff(R"({"format": 1, "queue": {}})",
                                  R"({"format": 1, "queue": {}, "host": {"queue": {"q1": {}}}})", "");
    ASSERT_TRUE(half);
    EXPECT_TRUE(half->empty());
}

TEST(ConfigDiff, OneObjectByAnyWordForItsType) {
    for (const char* object : {"policy p1", "p p1", " policy  p1 "}) {
        const auto changes = config_diff(kBefore, kAfter, object);
        ASSERT_TRUE(changes);
        ASSERT_EQ(changes->size(), 1U) << object;
        EXPECT_EQ(changes->front().name, "p1");
    }
    EXPECT_EQ(config_diff(kBefore, kAfter, "server")->size(), 1U);
}

TEST(ConfigDiff, ATypeAloneIsAllOfIt) {
    const auto all = config_diff(kBefore, kAfter, "policy");
    ASSERT_TRUE(all);
    EXPECT_GT(all->size(), 1U);
    for (const ConfigChange& change : *all) {
        EXPECT_EQ(change.type, "policy");
    }
}

TEST(ConfigDiff, WhatIsNoObjectIsRefused) {
    const auto nobody = config_diff(kBefore, kAfter, "policy nobody");
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().message, "there is no policy 'nobody' at either revision");
    const auto misspelt = config_diff(kBefore, kAfter, "polcy p1");
    ASSERT_FALSE(misspelt);
    EXPECT_EQ(misspelt.error().message,
              "bad object 'polcy p1': expected a type and a name, as in \"policy p1\"");
}

TEST(ConfigDiff, AConfigurationDoesNotDifferFromItself) {
    EXPECT_EQ(diff_text(*config_diff(kBefore, kBefore, "")), "");
    EXPECT_EQ(diff_directives(*config_diff(kAfter, kAfter, "")), "");
}

TEST(ConfigDiff, WhatIsNoDocumentIsRefused) {
    EXPECT_FALSE(config_diff("", kAfter, ""));
    EXPECT_FALSE(config_diff(kBefore, "[]", ""));
}

TEST(ConfigDiff, RulesOfQuotasAreShownOneByOne) {
    const char* const before = R"({"format": 1, "quota": {"q1": {"spill": "True",
        "rule": ["a: to jobs=1", "b: users={*} to jobs=2"]}}})";
    const auto changes = config_diff(before, R"({"format": 1, "quota": {"q1": {"spill": "True",
        "rule": ["b: users={*} to jobs=3,ncpus=1", "c: to jobs=4"]}}})",
                                     "");
    ASSERT_TRUE(changes);
    EXPECT_EQ(diff_text(*changes),
              "quota q1\n"
              "-    rule.a = to jobs=1\n"
              "-    rule.b = users={*} to jobs=2\n"
              "+    rule.b = users={*} to jobs=3,ncpus=1\n"
              "+    rule.c = to jobs=4\n");
    EXPECT_EQ(diff_directives(*changes),
              "set quota q1 rule.b = \"users={*} to jobs=3,ncpus=1\", rule.c = \"to jobs=4\"\n"
              "unset quota q1 rule.a\n");
    // Directives for single rules would leave the old order.
    const auto reordered = config_diff(before, R"({"format": 1, "quota": {"q1": {"spill": "False",
        "rule": ["b: users={*} to jobs=2", "a: to jobs=1,ncpus=2"]}}})",
                                       "");
    ASSERT_TRUE(reordered);
    EXPECT_EQ(diff_text(*reordered),
              "quota q1\n"
              "-    rule.a = to jobs=1\n"
              "+    rule.a = to jobs=1,ncpus=2\n"
              "-    order of rule = a,b\n"
              "+    order of rule = b,a\n"
              "-    spill = True\n"
              "+    spill = False\n");
    EXPECT_EQ(diff_directives(*reordered),
              "set quota q1 rule = 'b: users={*} to jobs=2,\"a: to jobs=1,ncpus=2\"', spill = False\n");
    const auto made = config_diff(R"({"format": 1})", before, "");
    ASSERT_TRUE(made);
    EXPECT_EQ(diff_directives(*made),
              "create quota q1 rule.a = \"to jobs=1\", rule.b = \"users={*} to jobs=2\", spill = True\n");
}

}  // namespace
}  // namespace pbs::cmds
