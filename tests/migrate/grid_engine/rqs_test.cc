// Tests the conversion of Grid Engine's resource quota sets: the file srqs.
#include <algorithm>

#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string quota_set(const std::string& limits, const std::string& name = "q",
                      const std::string& enabled = "TRUE") {
    std::string out = "{\n   name         " + name + "\n   enabled      " + enabled + "\n";
    for (std::size_t from = 0; from < limits.size();) {
        const std::size_t end = std::min(limits.find('\n', from), limits.size());
        out += "   limit        " + limits.substr(from, end - from) + "\n";
        from = end + 1;
    }
    return out + "}\n";
}

// Returns the quota rule that a limit of Grid Engine is converted to; "" if there is none.
std::string rule(const std::string& limit, GridFiles beside = {}) {
    beside["srqs"] = quota_set(limit);
    const std::string commands = grid_commands(beside);
    const std::string before = "rule.rule_1 = \"";
    const std::size_t from = commands.find(before);
    if (from == std::string::npos) return "";
    return commands.substr(from + before.size(),
                           commands.find('"', from + before.size()) - from - before.size());
}

TEST(GridQuotas, BecomeQuotasInTheirOrder) {
    EXPECT_EQ(grid_commands({{"srqs",
                              "{\n name max_u\n description \"Each user, 100\"\n enabled TRUE\n"
                              " limit users {*,!root} to slots=100\n limit name rest to slots=5\n}\n" +
                                  quota_set("to slots=9", "off", "false")}}),
              "create quota max_u\n"
              "set quota max_u rule.rule_1 = \"users={*,!root} to ncpus=100\"\n"
              "set quota max_u rule.rest = \"to ncpus=5\"\n"
              "set quota max_u comment = \"Each user, 100\"\n"
              "set quota max_u enabled = True\n"
              "create quota off\n"
              "set quota off rule.rule_1 = \"to ncpus=9\"\n"
              "set quota off enabled = False\n"
              "set policy default_policy quotas = \"max_u,off\"\n");
}

TEST(GridQuotas, FiltersKeepBracesListsAndExclusions) {
    EXPECT_EQ(rule("users {*} queues {all.q,s*.q} to slots=1"), "users={*} queues={all.q,s*.q} to ncpus=1");
    EXPECT_EQ(rule("users a, b ,c projects !* to slots=1"), "users=a,b,c projects=!* to ncpus=1");
    EXPECT_EQ(rule("users {a, b} to slots=1"), "users={a,b} to ncpus=1");
    EXPECT_EQ(rule("pes * queues !x.q to slots=1"), "queues=!x.q shapes=multi to ncpus=1");
    EXPECT_EQ(rule("pes !* to slots=1"), "shapes=!multi to ncpus=1");
    EXPECT_EQ(rule("hosts {*} to slots=4"), "vnodes={host:*} to ncpus=4");
    EXPECT_EQ(rule("hosts n1.site.org,!n2 to slots=4"), "vnodes={host:n1,!host:n2} to ncpus=4");
}

TEST(GridQuotas, ListsOfHostsAndUsersAreReplacedByTheirMembers) {
    const GridFiles lists{
        {"shgrp/@gpus", "group_name @gpus\nhostlist g1.site.org \\\n g2 @more\n"},
        {"shgrp/@more", "group_name @more\nhostlist g3 g1 @gpus\n"},
        {"shgrp/@none", "group_name @none\nhostlist NONE\n"},
        {"su/chem", "name chem\ntype ACL\nfshare 0\noticket 0\nentries ann,bob,@staff\n"},
    };
    EXPECT_EQ(rule("hosts {@gpus} to slots=4", lists), "vnodes={host:g1,host:g2,host:g3} to ncpus=4");
    EXPECT_EQ(rule("users {@chem,!@chem} to slots=4", lists),
              "users={ann,bob,@staff,!ann,!bob,!@staff} to ncpus=4");
    EXPECT_EQ(rule("users {@other} to slots=4", lists), "users={@other} to ncpus=4");
    GridFiles files = lists;
    files["srqs"] = quota_set("users @other hosts !@none to slots=4\nhosts @none to slots=3");
    EXPECT_THAT(
        grid_notes(files),
        AllOf(
            Contains("ge/srqs:4: @other: means the group other, as there is no file su/other with the list"),
            Contains("ge/srqs:5: rule_2: the rule is left out: a list in it has no members")));
    EXPECT_THAT(grid_commands(files), HasSubstr("set quota q enabled = True\n")) << "the rule limits nothing";
    EXPECT_THAT(
        grid_problems({{"srqs", quota_set("users x hosts {a,@gpus} to slots=4")}}),
        ElementsAre("ge/srqs:4:34: limit: there is no group of hosts '@gpus', expected the file shgrp/@gpus "
                    "with it (qconf -shgrp @gpus)"));
}

TEST(GridQuotas, GroupsOfHostsMayBeNestedDeeply) {
    constexpr int kDepth = 20000;
    GridFiles files{
        {"srqs", quota_set("hosts {@g0} to slots=1")},
        {"shgrp/@g0", "group_name @g0\nhostlist first @g1 last\n"},
        {fmt::format("shgrp/@g{}", kDepth), fmt::format("group_name @g{}\nhostlist inner\n", kDepth)}};
    for (int i = 1; i < kDepth; ++i)
        files[fmt::format("shgrp/@g{}", i)] = fmt::format("group_name @g{}\nhostlist @g{}\n", i, i + 1);
    EXPECT_THAT(grid_commands(files), HasSubstr("\"vnodes={host:first,host:inner,host:last} to ncpus=1\""));
}

TEST(GridQuotas, FindComplexesInALargeFile) {
    std::string complexes;
    for (int i = 0; i < 5000; ++i) complexes += fmt::format("c{0} s{0} INT <= YES YES 0 0\n", i);
    std::string limits;
    for (int i = 0; i < 1500; ++i) limits += fmt::format("to s{}=1\n", 4999 - i);
    EXPECT_THAT(grid_commands({{"srqs", quota_set(limits)}, {"sc", complexes}}),
                HasSubstr("set quota q rule.rule_1500 = \"to c3500=1\"\n"));
}

TEST(GridQuotas, LimitsHaveTheUnitsOfTheirResource) {
    EXPECT_EQ(rule("to h_vmem=4G,mem_total=1k,h_rt=1::30,slots=2k"),
              "to vmem=4gb,mem=1000b,walltime=01:00:30,ncpus=2000");
    EXPECT_EQ(rule("to lic=3"), "to lic=3");
    EXPECT_EQ(rule("to scratch=3M"), "to scratch=3mb") << "a multiplier shows a size";
    EXPECT_EQ(
        rule("to scr=1.5K,n=3K", {{"sc", "scratch scr MEMORY <= YES YES 0 0\nn n INT <= YES YES 0 0\n"}}),
        "to scratch=1536b,n=3072");
    EXPECT_EQ(rule("users vip to slots=INFINITY"), "users=vip to jobs=2147483647")
        << "counted and not limited";
    EXPECT_EQ(rule("users vip to slots=infinity,lic=2"), "users=vip to lic=2");
}

TEST(GridQuotas, DynamicLimitsBecomeFormulas) {
    EXPECT_EQ(rule("hosts {*} to slots=$num_proc"), "vnodes={host:*} to ncpus=(ncpus)");
    EXPECT_EQ(rule("hosts {*} to slots=$num_proc*2-1"), "vnodes={host:*} to ncpus=(ncpus*2-1)");
    EXPECT_EQ(rule("hosts n1 to slots=2*$num_proc+$lic"), "vnodes={host:n1} to ncpus=(ncpus*2+lic)");
    EXPECT_EQ(rule("hosts {*} to h_vmem=$mem_total*0.5"), "vnodes={host:*} to vmem=(mem*0.5)");
    EXPECT_EQ(rule("hosts {*} to h_vmem=$num_proc*1G"), "vnodes={host:*} to vmem=(ncpus*1048576)")
        << "sizes count in kilobytes";
    EXPECT_EQ(rule("hosts {*} to slots=$num_proc*-2+40"), "vnodes={host:*} to ncpus=(-ncpus*2+40)");
    EXPECT_EQ(rule("hosts {*} to slots=-$num_proc*-2- 3 * $lic"), "vnodes={host:*} to ncpus=(ncpus*2-lic*3)");
    EXPECT_EQ(rule("hosts {*} to slots=$num_proc*+2"), "vnodes={host:*} to ncpus=(ncpus*2)");
    for (const std::string& sum :
         std::vector<std::string>{"$num_proc+", "*$num_proc", "$num_proc*", "$num_proc--2", "2*3+$num_proc",
                                  "$num_proc*2*2", "$num_proc*$lic"})
        EXPECT_THAT(grid_problems({{"srqs", quota_set("hosts {*} to slots=" + sum)}}),
                    ElementsAre(HasSubstr("expected a number, or $COMPLEX with a weight")))
            << sum;
    EXPECT_THAT(grid_problems({{"srqs", quota_set("users x to slots=$num_proc")}}),
                ElementsAre("ge/srqs:4:34: limit: a dynamic limit needs hosts in braces, or one host"));
}

TEST(GridQuotas, ARuleThatAQuotaCantSaySwitchesItOff) {
    for (const std::string& limit : std::vector<std::string>{
             "pes mpi to slots=4", "pes {*} to slots=4", "queues a.q@n1 to slots=4",
             "hosts *.site.org to slots=4", "hosts {*} to slots=$load_avg*2", "to mem_free=3G",
             "to h_vmem=1G,s_vmem=2G", "to a.b=3", "hosts {*} to slots=$a.b"}) {
        const GridFiles files{{"srqs", quota_set(limit + "\nusers {*} to slots=3")}};
        EXPECT_THAT(grid_commands(files),
                    AllOf(HasSubstr("set quota q rule.rule_2 = \"users={*} to ncpus=3\"\n"),
                          HasSubstr("set quota q enabled = False\n")))
            << limit;
        EXPECT_THAT(
            grid_notes(files),
            AllOf(
                Contains(HasSubstr("ge/srqs:4: rule_1: the rule is left out: ")),
                Contains("ge/srqs:3: q: the quota is switched off, as it lacks rules: set quota q enabled = "
                         "True switches it on as it is")))
            << limit;
    }
}

TEST(GridQuotas, ARuleThatIsLeftOutMattersOnlyToThoseBehindIt) {
    const GridFiles last{{"srqs", quota_set("users {*} to slots=3\npes mpi to slots=4")}};
    EXPECT_THAT(grid_commands(last), HasSubstr("set quota q enabled = True\n"));
    EXPECT_THAT(grid_notes(last),
                ElementsAre(HasSubstr("ge/srqs:5: rule_2: the rule is left out: jobs have no")));
    const std::pair<std::string, std::string> nobody{"su/none", "name none\nentries NONE\n"};
    for (const std::string& limit :
         std::vector<std::string>{"pes mpi users @none to slots=4", "users @none pes mpi to slots=4"}) {
        const GridFiles files{{"srqs", quota_set(limit + "\nto slots=3")}, nobody};
        EXPECT_THAT(grid_commands(files), HasSubstr("set quota q enabled = True\n")) << limit;
        EXPECT_THAT(grid_notes(files),
                    Contains("ge/srqs:4: rule_1: the rule is left out: a list in it has no members"))
            << limit;
    }
}

TEST(GridQuotas, NamesThatNoObjectHasAreReplaced) {
    const GridFiles files{
        {"srqs", quota_set("name rule_2 to slots=1\nto slots=2\nto slots=3\nname 4/5 to slots=4\n"
                           "name rule_4 to slots=5",
                           "1080")}};
    EXPECT_EQ(grid_commands(files),
              "create quota quota_1080\n"
              "set quota quota_1080 rule.rule_2 = \"to ncpus=1\"\n"
              "set quota quota_1080 rule.rule_3 = \"to ncpus=2\"\n"
              "set quota quota_1080 rule.rule_4 = \"to ncpus=3\"\n"
              "set quota quota_1080 rule.rule_4_5 = \"to ncpus=4\"\n"
              "set quota quota_1080 rule.rule_4_6 = \"to ncpus=5\"\n"
              "set quota quota_1080 enabled = True\n"
              "set policy default_policy quotas = quota_1080\n");
    EXPECT_THAT(
        grid_notes(files),
        AllOf(Contains("ge/srqs:2: 1080: is called quota_1080 here: names have a letter first, then letters, "
                       "digits, -, _ and ., at most 64 characters"),
              Contains("ge/srqs:5: rule_2: is called rule_3 here: an earlier rule has the name"),
              Contains(HasSubstr("ge/srqs:7: 4/5: is called rule_4_5 here")),
              Contains("ge/srqs:8: rule_4: is called rule_4_6 here: an earlier rule has the name")));
}

TEST(GridQuotas, WithANameThatAnotherOneHasGetANumber) {
    const GridFiles limit{{"ssconf", "maxujobs 3\n"}, {"srqs", quota_set("to slots=1", "maxujobs")}};
    EXPECT_THAT(grid_commands(limit),
                AllOf(HasSubstr("set quota maxujobs rule.each = \"users={*} to jobs=3\"\n"),
                      HasSubstr("set quota maxujobs_2 rule.rule_1 = \"to ncpus=1\"\n"),
                      HasSubstr("set policy default_policy quotas = \"maxujobs,maxujobs_2\"\n")));
    EXPECT_THAT(grid_notes(limit),
                Contains("ge/srqs:1: maxujobs: the quota is called maxujobs_2 here: another one is called "
                         "maxujobs"));
    EXPECT_THAT(
        grid_commands({{"srqs", quota_set("to slots=1", "quota_1x") + quota_set("to slots=2", "1x")}}),
        HasSubstr("set quota quota_1x_2 rule.rule_1 = \"to ncpus=2\"\n"));
}

TEST(GridQuotas, WithoutALimitAreTold) {
    EXPECT_THAT(
        grid_notes({{"srqs", quota_set("users vip to slots=INFINITY\nto slots=infinity,lic=2")}}),
        ElementsAre("ge/srqs:4: rule_1: INFINITY is jobs=2147483647 here, which no job reaches: a rule "
                    "has a limit"));
}

TEST(GridQuotas, MistakesAreToldWithTheirPlaces) {
    const auto told = [](const std::string& text) { return grid_problems({{"srqs", text}}); };
    EXPECT_THAT(told("name x\n"),
                ElementsAre("ge/srqs:1:1: found 'name x', expected an opening brace on a line of its own"));
    EXPECT_THAT(told("{\n name x\n enabled TRUE\n name y\n}\n" + quota_set("to slots=1")),
                ElementsAre("ge/srqs:4:2: name: is there twice, expected it once"));
    EXPECT_THAT(told("{\n name x\n enabled maybe\n}\n"),
                ElementsAre("ge/srqs:3:10: enabled: 'maybe' is neither TRUE nor FALSE"));
    EXPECT_THAT(told("{\n name x\n limit to slots=1\n"),
                ElementsAre("ge/srqs:1:1: the set has no closing brace, expected one on a line of its own"));
    EXPECT_THAT(told("{\n limit to slots=1\n}\n"),
                ElementsAre("ge/srqs:3:1: the set has no name, expected a line name"));
    EXPECT_THAT(told("{\n frob x\n}\n"),
                ElementsAre("ge/srqs:2:2: found 'frob', expected name, description, enabled or limit"));
    EXPECT_THAT(told(quota_set("to slots=1") + quota_set("to slots=1")),
                ElementsAre("ge/srqs:10:1: q: is the name of an earlier set, expected another name"));
    EXPECT_THAT(
        told(quota_set("users a b to slots=1")),
        ElementsAre(
            "ge/srqs:4:25: limit: found 'b', expected name, users, projects, pes, queues, hosts or to"));
    EXPECT_THAT(told(quota_set("users {a to slots=1")),
                ElementsAre("ge/srqs:4:23: limit: the list has no closing brace, expected one"));
    EXPECT_THAT(told(quota_set("users a,,b to slots=1")),
                ElementsAre("ge/srqs:4:25: limit: found '', expected a name or pattern"));
    EXPECT_THAT(told(quota_set("users a users b to slots=1")),
                ElementsAre("ge/srqs:4:25: limit: users is there twice"));
    EXPECT_THAT(told(quota_set("users a")),
                ElementsAre("ge/srqs:4:24: limit: the rule ends, expected 'to' and limits"));
    EXPECT_THAT(told(quota_set("to slots")),
                ElementsAre("ge/srqs:4:20: limit: found 'slots', expected RESOURCE=LIMIT"));
    EXPECT_THAT(told(quota_set("to slots=few,h_rt=1:x")),
                ElementsAre("ge/srqs:4:26: limit: 'few' is no amount, expected a number such as 10 or 4G",
                            "ge/srqs:4:35: limit: '1:x' is no time, expected HH:MM:SS or seconds"));
    EXPECT_THAT(
        told(quota_set("name a to slots=1\nname a to slots=2")),
        ElementsAre("ge/srqs:5:22: limit: 'a' is the name of an earlier rule, expected each name once"));
    EXPECT_THAT(
        told(quota_set("hosts {*} to slots=$num_proc*x")),
        ElementsAre(
            "ge/srqs:4:36: limit: found '$num_proc*x', expected a number, or $COMPLEX with a weight"));
}

TEST(GridQuotas, NoSetsAreNoQuotas) {
    EXPECT_THAT(grid_commands({{"srqs", "no resource quota set defined\n"}}), Not(HasSubstr("quota")));
    EXPECT_THAT(grid_problems({{"srqs", "no resource quota set defined\n"}}), IsEmpty());
}

}  // namespace
}  // namespace pbs::migrate::test
