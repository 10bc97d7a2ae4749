#include "ifl/cmds/qmgr_complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names(ObjectType type) {
    if (type == ObjectType::policy) {
        return {"default_policy", "nights"};
    }
    if (type == ObjectType::fs_group) {
        return {"groups"};
    }
    return {"workq"};
}

std::vector<std::string> completed(std::string_view line) {
    return complete(line, names).candidates;
}

TEST(Complete, CommandsAndTypes) {
    EXPECT_THAT(completed("cre"), ElementsAre("create"));
    EXPECT_THAT(completed("  se"), ElementsAre("set"));
    EXPECT_THAT(completed("set "), Contains("time_window"));
    EXPECT_THAT(completed("set s"), ElementsAre("sched", "server"));
    EXPECT_THAT(completed("help "), Contains("active"));
    EXPECT_THAT(completed("quit "), IsEmpty());
    EXPECT_THAT(completed("frob "), IsEmpty());
}

TEST(Complete, ObjectsAndAttributes) {
    EXPECT_THAT(completed("set policy n"), Contains("nights"));
    EXPECT_THAT(completed("set policy n"), Contains("node_sort_key"));
    EXPECT_THAT(completed("delete policy n"), ElementsAre("nights"));
    EXPECT_THAT(completed("set policy nights strict"), ElementsAre("strict_ordering"));
    EXPECT_THAT(completed("create policy "), IsEmpty());
    EXPECT_THAT(completed("list policy default_policy,n"), Contains("nights"));
    EXPECT_THAT(completed("set policy nights by_queue=True, rou"), ElementsAre("round_robin"));
    EXPECT_THAT(completed("set server sched"), ElementsAre("scheduler_iteration", "scheduling"));
}

TEST(Complete, Values) {
    EXPECT_THAT(completed("set policy nights by_queue = "), ElementsAre("False", "True"));
    EXPECT_THAT(completed("set policy nights by_queue=T"), ElementsAre("True"));
    EXPECT_THAT(completed("set policy nights fairshare_group="), ElementsAre("groups"));
    EXPECT_THAT(completed("set t w type = "), ElementsAre("dedicated", "prime", "standard"));
}

TEST(Complete, SaysWhereTheWordBegins) {
    EXPECT_EQ(complete("set pol", names).begin, 4U);
    EXPECT_EQ(complete("set policy p by_queue=T", names).begin, 22U);
    EXPECT_EQ(complete("set ", names).begin, 4U);
}

}  // namespace
}  // namespace pbs::cmds
