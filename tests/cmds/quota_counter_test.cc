#include "ifl/cmds/quota_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmds/status_list.h"

namespace pbs::cmds {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(QuotaCounters, MayBeInSeveralObjects) {
    Objects objects;
    objects.add("q1", {{"rule", "", "each"},
                       {"of", "users", "bob"},
                       {"used", "ncpus", "3"},
                       {"limit", "ncpus", "8"},
                       {"enabled", "", "True"},
                       {"in_force", "", "True"},
                       {"job", "1.svr", "2"}});
    objects.add("q1", {{"continues", "", "True"}, {"job", "2.svr", "1"}});
    objects.add("q1", {{"continues", "", "True"}, {"job", "3.svr", "4"}});
    objects.add("q1", {{"rule", "", "each"}, {"of", "users", "ann"}, {"used", "ncpus", "1"}});
    objects.add("q2", {{"rule", "", "all"}, {"used", "jobs", "1"}, {"job", "2.svr", "1"}});
    const std::vector<QuotaCounter> counters = quota_counters(objects.get());
    ASSERT_THAT(counters, SizeIs(3));
    EXPECT_EQ(counters[0].limit, "8");
    EXPECT_EQ(counters[0].whose(" "), "users=bob");
    EXPECT_THAT(counters[0].jobs, ElementsAre(Pair("1.svr", "2"), Pair("2.svr", "1"), Pair("3.svr", "4")));
    EXPECT_EQ(counters[1].whose(" "), "users=ann");
    EXPECT_THAT(counters[1].jobs, IsEmpty());
    EXPECT_THAT(counters[2].jobs, ElementsAre(Pair("2.svr", "1")));
    EXPECT_THAT(quota_counters(nullptr), IsEmpty());
}

}  // namespace
}  // namespace pbs::cmds
