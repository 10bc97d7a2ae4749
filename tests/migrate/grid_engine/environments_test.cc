// Tests the conversion of Grid Engine's parallel environments and groups of hosts: the files in sp/ and
// shgrp/.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::pair<std::string, std::string> environment(const std::string& name, const std::string& rule,
                                                const std::string& size) {
    return {"sp/" + name, "pe_name " + name + "\nslots 999\nallocation_rule " + rule + "\nurgency_slots " +
                              size + "\nqsort_args NONE\n"};
}

TEST(GridEnvironments, ThatAgreeInTheSizeOfRangesGiveIt) {
    EXPECT_EQ(grid_commands({environment("mpi", "$fill_up", "min"), environment("smp", "$pe_slots", "MIN")}),
              "set policy default_policy urgency_size = min\n");
    const auto done =
        grid_conversion({environment("mpi", "$fill_up", "avg"), environment("smp", "4", "avg")});
    ASSERT_TRUE(done);
    ASSERT_EQ(done->report.lines.size(), 1U);
    EXPECT_EQ(done->report.lines[0].source, "ge/sp/mpi:4 urgency_slots, ge/sp/smp:4 urgency_slots");
}

TEST(GridEnvironments, ThatDifferInTheSizeOfRangesAreTold) {
    const GridFiles differ{environment("mpi", "$fill_up", "min"), environment("smp", "$pe_slots", "max")};
    EXPECT_EQ(grid_commands(differ), "");
    EXPECT_THAT(
        grid_notes(differ),
        Contains("ge/sp/smp:4: urgency_slots: left out: environments differ in it, and urgency_size of "
                 "the policy holds for all jobs"));
    const GridFiles number{environment("mpi", "$fill_up", "8")};
    EXPECT_EQ(grid_commands(number), "");
    EXPECT_THAT(grid_notes(number),
                Contains("ge/sp/mpi:4: urgency_slots: left out: urgency_size of the policy is "
                         "min, max or avg, and no number"));
}

TEST(GridEnvironments, EachRuleHasALineWithWhatJobsAskFor) {
    EXPECT_THAT(
        grid_notes({environment("a", "$pe_slots", "min"), environment("b", "$round_robin", "min"),
                    environment("c", "12", "min"), environment("d", "$fill_up", "min")}),
        IsSupersetOf(
            {"ge/sp/a:3: allocation_rule: $pe_slots: jobs ask for it with place=pack: all CPUs on one host",
             "ge/sp/b:3: allocation_rule: $round_robin: jobs ask for it with chunk_order=round_robin, or get "
             "it "
             "by that of the policy",
             "ge/sp/c:3: allocation_rule: 12: jobs ask for it with per_host=12",
             "ge/sp/d:3: allocation_rule: $fill_up: the usual: chunks of one CPU (select=4:ncpus=1) fill the "
             "vnodes in their order",
             "ge/sp/a:2: slots: left out: a quota with shapes=multi limits what parallel jobs use together",
             "ge/sp/a:5: qsort_args: left out: it is about how jobs run, and not when"}));
}

TEST(GridEnvironments, MistakesAreToldWithTheirPlaces) {
    EXPECT_THAT(grid_problems({{"sp/a", "pe_name b\n"}}),
                ElementsAre("ge/sp/a:1:1: has no line pe_name with the file's name, expected one"));
    EXPECT_THAT(
        grid_problems({{"sp/a", "pe_name a\nallocation_rule 0\nurgency_slots most\nslots 1\nslots 2\n"}}),
        ElementsAre("ge/sp/a:2:17: allocation_rule: '0' is no rule, expected $pe_slots, $fill_up, "
                    "$round_robin or a number of slots for each host",
                    "ge/sp/a:3:15: urgency_slots: 'most' is neither min, max or avg nor a number",
                    "ge/sp/a:5:1: slots: is there twice, expected it once"));
}

TEST(GridHostGroups, AreTold) {
    EXPECT_THAT(
        grid_notes({{"shgrp/@all", "group_name @all\nhostlist n1 \\\n n2\n"}}),
        ElementsAre("ge/shgrp/@all:1-3: group_name, hostlist: groups of hosts aren't made: rules of quotas "
                    "have the hosts of those that they name"));
    EXPECT_THAT(grid_problems({{"shgrp/@all", "group_name @some\nhostlist n1\nhostlist n2\n"}}),
                ElementsAre("ge/shgrp/@all:1:12: group_name: isn't the file's name, expected that",
                            "ge/shgrp/@all:3:1: hostlist: is there twice, expected it once"));
    EXPECT_THAT(grid_problems({{"shgrp/@all", "hostlist n1\n"}}),
                ElementsAre("ge/shgrp/@all:1:1: has no line group_name, expected one"));
}

}  // namespace
}  // namespace pbs::migrate::test
