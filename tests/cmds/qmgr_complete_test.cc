#include "ifl/cmds/qmgr_complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(ObjectType type) {
    if (type == ObjectType::policy) {
        return {"default_policy", "nights"};
    }
    if (type == ObjectType::fs_group) {
        return {"groups"};
    }
    if (type == ObjectType::resource) {
        return {"mem", "ncpus", "scratch"};
    }
    if (type == ObjectType::node) {
        return {"n1", "n2"};
    }
    if (type == ObjectType::quota) {
        return {"q1"};
    }
    return {"expressq", "workq"};
}

std::vector<std::string> elements(ObjectType type, const std::string& object, const std::string& attribute) {
    if (type != ObjectType::quota || object != "q1" || attribute != "rule") return {};
    return {"guests", "vip"};
}

std::vector<std::string> numbers() {
    return {"mem", "ncpus"};
}

std::vector<std::string> completed(std::string_view line) {
    return complete(line, {names, elements, numbers}).candidates;
}

TEST(Complete, TheRulesOfAQuota) {
    EXPECT_THAT(completed("set quota q"), ElementsAre("q1"));
    EXPECT_THAT(completed("set quota q1 rule."), ElementsAre("rule.guests", "rule.vip"));
    EXPECT_THAT(completed("unset quota q1 spill, rule.v"), ElementsAre("rule.vip"));
    EXPECT_THAT(completed("set quota q2 rule."), IsEmpty());
    EXPECT_THAT(completed("set quota rule."), IsEmpty()) << "no quota is named";
    EXPECT_THAT(completed("set quota q1 rule.vip = \""), Contains("users="));
    EXPECT_THAT(completed("set quota q1 rule.vip = \"users={*} q"), ElementsAre("queues="));
    EXPECT_THAT(completed("set quota q1 rule.vip = \"users={*} to n"), ElementsAre("ncpus"));
    EXPECT_THAT(completed("set quota q1 in_"), IsEmpty()) << "in_force can't be set";
    EXPECT_THAT(completed("list quota q1 in_"), ElementsAre("in_force"));
}

TEST(Complete, LoadsAreNumbers) {
    EXPECT_THAT(completed("set policy nights job_load_adjustments=\"l"), ElementsAre("load_avg"));
    EXPECT_THAT(completed("set policy nights load_thresholds="),
                ElementsAre("load_avg", "mem", "ncpus", "np_load_avg", "np_mem", "np_ncpus"));
    EXPECT_THAT(completed("set policy nights urgency_of_resources=\"s"), ElementsAre("scratch"));
}

TEST(Complete, CommandsAndTypes) {
    EXPECT_THAT(completed("cre"), ElementsAre("create"));
    EXPECT_THAT(completed("  se"), ElementsAre("set"));
    EXPECT_THAT(completed("set "), Contains("time_window"));
    EXPECT_THAT(completed("set s"), ElementsAre("sched", "server"));
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
    EXPECT_THAT(completed("set policy nights by_queue=True, rou"),
                ElementsAre("round_robin", "round_robin_all"));
    EXPECT_THAT(completed("set server sched"), ElementsAre("scheduler_iteration", "scheduling"));
}

TEST(Complete, ValuesOfAnAttributeAreCompleted) {
    EXPECT_THAT(completed("set policy nights by_queue = "), ElementsAre("False", "True"));
    EXPECT_THAT(completed("set policy nights by_queue=T"), ElementsAre("True"));
    EXPECT_THAT(completed("set policy nights fairshare_group="), ElementsAre("groups"));
    EXPECT_THAT(completed("set t w type = "), ElementsAre("dedicated", "prime", "standard"));
}

struct Case {
    const char* line;
    std::vector<std::string> candidates;
};
class CompleteTable : public testing::TestWithParam<Case> {};

TEST_P(CompleteTable, HasTheCandidates) {
    EXPECT_THAT(completed(GetParam().line), testing::ElementsAreArray(GetParam().candidates));
}

INSTANTIATE_TEST_SUITE_P(Help, CompleteTable,
                         testing::Values(Case{"help op", {"operators"}}, Case{"help fs", {"fs_group"}},
                                         Case{"help policy by_", {"by_queue"}},
                                         Case{"help queue route_r", {"route_retry_time"}},
                                         Case{"help policy by_queue ", {}}, Case{"? pol", {"policy"}}));

INSTANTIATE_TEST_SUITE_P(Names, CompleteTable,
                         testing::Values(Case{"delete queue ", {"expressq", "workq"}},
                                         Case{"active node n", {"n1", "n2"}},
                                         Case{"list node n1,", {"n1", "n2"}},
                                         Case{"delete node n1,n", {"n1", "n2"}}, Case{"delete node n1 ", {}},
                                         Case{"create queue ", {}},
                                         Case{"list queue workq,exp", {"expressq"}}));

INSTANTIATE_TEST_SUITE_P(
    Attributes, CompleteTable,
    testing::Values(
        Case{"set queue workq pri", {}}, Case{"set queue workq Pri", {"Priority"}},
        Case{"create queue q9 enab", {"enabled"}},
        Case{"unset server default_q", {"default_qdel_arguments", "default_qsub_arguments", "default_queue"}},
        Case{"set server total", {}}, Case{"list server total", {"total_jobs"}},
        Case{"list queue workq enabled, star", {"started"}},
        Case{"set policy nights by_queue=True, strict", {"strict_ordering"}},
        Case{"set policy nights comment='a, b', strict", {"strict_ordering"}},
        Case{"set policy by_queue=True, strict", {"strict_ordering"}},
        Case{"list server; set policy nights strict", {"strict_ordering"}},
        Case{"set node n1 resources_available.",
             {"resources_available.mem", "resources_available.ncpus", "resources_available.scratch"}},
        Case{"set node n1 resources_available.n", {"resources_available.ncpus"}},
        Case{"set queue workq max_run_res.m", {"max_run_res.mem"}}, Case{"set queue workq enabled.", {}}));

INSTANTIATE_TEST_SUITE_P(Operators, CompleteTable,
                         testing::Values(Case{"set policy nights by_queue ", {"="}},
                                         Case{"set queue workq enabled ", {"="}},
                                         Case{"set server managers ", {"+=", "-=", "="}},
                                         Case{"create policy p9 node_sort_key ", {"+=", "-=", "="}},
                                         Case{"unset policy nights by_queue ", {}}));

INSTANTIATE_TEST_SUITE_P(
    Values, CompleteTable,
    testing::Values(Case{"set server scheduling = ", {"False", "True"}},
                    Case{"create queue q9 enabled=T", {"True"}},
                    Case{"set server default_queue = ", {"expressq", "workq"}},
                    Case{"set queue workq route_destinations += ex", {"expressq"}},
                    Case{"set queue workq queue_type=r", {"route"}},
                    Case{"set node n1 state = off", {"offline"}},
                    Case{"create resource r type=s", {"size", "string", "string_array"}},
                    Case{"set policy nights dedicated_queues = ", {"expressq", "workq"}},
                    Case{"set policy nights dedicated_queues = workq,exp", {"expressq"}},
                    Case{"set policy nights exclude_resources = 'mem,n", {"ncpus"}},
                    Case{"set policy nights node_sort_key = \"nc", {"ncpus"}},
                    Case{"set policy nights node_sort_key = \"ncpus ", {"HIGH", "LOW"}},
                    Case{"set policy nights node_sort_key = \"ncpus HIGH ", {"assigned", "total", "unused"}},
                    Case{"set policy nights node_sort_key = \"ncpus HIGH, sort", {"sort_priority"}},
                    Case{"set policy nights job_sort_key = \"ncpus HIGH ", {}},
                    Case{"set policy nights node_sort_key_of_place = \"vs", {"vscatter:"}},
                    Case{"set policy nights node_sort_key_of_place = \"vscatter: nc", {"ncpus"}},
                    Case{"set policy nights node_sort_key_of_place = \"vscatter: ncpus ", {"HIGH", "LOW"}},
                    Case{"set policy nights node_sort_key_of_place = \"pack: ncpus LOW u", {"unused"}},
                    Case{"set sched default policy = 'default_policy,np:n", {"np:nights"}},
                    Case{"set sched default policy=nigh", {"nights"}},
                    Case{"set policy nights preempt_sort = ", {"min_time_since_start"}},
                    Case{"set policy nights comment = ", {}}));

TEST(Complete, BeginsAtTheWordInQuotes) {
    EXPECT_EQ(complete("set p x node_sort_key='ncpus HIGH, me", {names, elements, numbers}).begin, 35U);
    EXPECT_EQ(complete("set p x comment='ab", {names, elements, numbers}).begin, 17U);
}

TEST(Complete, SaysWhereTheWordBegins) {
    EXPECT_EQ(complete("set pol", {names, elements, numbers}).begin, 4U);
    EXPECT_EQ(complete("set policy p by_queue=T", {names, elements, numbers}).begin, 22U);
    EXPECT_EQ(complete("set ", {names, elements, numbers}).begin, 4U);
}

}  // namespace
}  // namespace pbs::cmds
