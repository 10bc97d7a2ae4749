// Tests the conversion of Grid Engine's access lists, users and projects: the files in su/, suser/ and sprj/.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(GridOwners, HaveSharesAndOverrideTickets) {
    EXPECT_EQ(grid_commands(
                  {{"suser/ann", "name ann\noticket 500\nfshare 100\ndelete_time 0\ndefault_project NONE\n"},
                   {"suser/bob", "name bob\noticket 0\nfshare 60\n"},
                   {"su/physics", "name physics\ntype ACL DEPT\nfshare 10\noticket 7\nentries carl\n"},
                   {"sprj/rescue", "name rescue\noticket 5000\nfshare 0\nacl NONE\nxacl NONE\n"}}),
              "set policy default_policy functional_shares = \"[u:ann=100],[u:bob=60],[g:physics=10]\"\n"
              "set policy default_policy override_tickets = \"[u:ann=500],[g:physics=7],[p:rescue=5000]\"\n");
}

TEST(GridOwners, WithoutAnEntryHaveThoseOfTheGlobalConfiguration) {
    const GridFiles files{
        {"suser/ann", "name ann\nfshare 100\n"},
        {"sconf",
         "#global:\nauto_user_fshare 10\nauto_user_oticket 0\nmax_aj_instances 2000\nenforce_user auto\n"
         "max_u_jobs 5\nmax_aj_tasks 75000\nshell_start_mode unix_behavior\n"}};
    EXPECT_EQ(grid_commands(files),
              "set policy default_policy max_run_subjobs = 2000\n"
              "set policy default_policy functional_shares = \"[u:PBS_GENERIC=10],[u:ann=100]\"\n");
    EXPECT_THAT(
        grid_notes(files),
        IsSupersetOf(
            {"ge/sconf:3: auto_user_oticket: nothing to carry over: it is 0",
             "ge/sconf:6: max_u_jobs: left out: max_queued of the server limits the jobs that there are",
             "ge/sconf:7: max_aj_tasks: left out: max_array_size of the server limits the size of an array",
             "ge/sconf:8: shell_start_mode: left out: it is about how jobs run, and not when"}));
}

TEST(GridOwners, GetSharesOfTheGlobalConfigurationOnlyIfUsersAreMade) {
    for (const std::string& enforce : std::vector<std::string>{"none\n", "true\n"}) {
        const GridFiles files{{"sconf", "auto_user_fshare 10\nauto_user_oticket 3\nenforce_user " + enforce},
                              {"suser/bob", "name bob\nfshare 0\n"}};
        EXPECT_EQ(grid_commands(files), "") << enforce;
        EXPECT_THAT(grid_notes(files),
                    testing::Contains("ge/sconf:1-2: auto_user_fshare, auto_user_oticket: left out: "
                                      "without enforce_user auto no user gets it"));
    }
}

TEST(GridOwners, WithZeroKeepItBesideANumberForAllOthers) {
    EXPECT_EQ(
        grid_commands({{"sconf", "auto_user_fshare 10\nenforce_user AUTO\n"},
                       {"suser/bob", "name bob\nfshare 0\noticket 0\n"},
                       {"su/chem", "name chem\ntype DEPT\nfshare 0\noticket 0\n"},
                       {"su/defaultdepartment", "name defaultdepartment\ntype DEPT\nfshare 0\noticket 7\n"},
                       {"sprj/defaultdepartment", "name defaultdepartment\nfshare 4\noticket 0\n"}}),
        "set policy default_policy functional_shares = "
        "\"[u:PBS_GENERIC=10],[u:bob=0],[p:defaultdepartment=4]\"\n"
        "set policy default_policy override_tickets = \"[g:PBS_GENERIC=7],[g:chem=0]\"\n");
}

TEST(GridOwners, UsageOfWhatJobsHaveIsTold) {
    const auto notes_of = [](const std::string& params) {
        const auto notes =
            grid_notes({{"sconf", "execd_params " + params + "\nenforce_user none\nauto_user_fshare 0\n"}});
        return notes.empty() ? "" : notes.front();
    };
    for (const std::string& params :
         std::vector<std::string>{"SHARETREE_RESERVED_USAGE=true",
                                  "KEEP_ACTIVE=false,ACCT_RESERVED_USAGE=TRUE", "X=1 acct_reserved_usage=1"})
        EXPECT_THAT(notes_of(params), HasSubstr("ge/sconf:1: execd_params: usage is what jobs have"))
            << params;
    for (const std::string& params : std::vector<std::string>{"none", "SHARETREE_RESERVED_USAGE=false"})
        EXPECT_EQ(notes_of(params),
                  "ge/sconf:1: execd_params: left out: it is about how jobs run, and not when")
            << params;
}

TEST(GridOwners, UsersWhoMaySetDeadlinesBecomeDeadlineUsers) {
    EXPECT_EQ(grid_commands({{"su/deadlineusers",
                              "name deadlineusers\ntype ACL\nfshare 0\noticket 0\nentries ann,@vip\n"}}),
              "set policy default_policy deadline_users = \"ann,@vip\"\n");
}

// In Grid Engine nobody may set a deadline unless he is in the list.
TEST(GridOwners, DeadlinesOfAllUsersDoNotCountUnnoticed) {
    const auto site = [](const std::string& weight, const std::string& users) {
        GridFiles files{{"ssconf", "weight_deadline " + weight + "\n"}};
        if (!users.empty()) files["su/deadlineusers"] = "name deadlineusers\nentries " + users + "\n";
        return files;
    };
    EXPECT_THAT(grid_commands(site("3600000", "NONE")),
                HasSubstr("set policy default_policy weight_deadline = 0\n"));
    EXPECT_THAT(
        grid_notes(site("3600000", "NONE")),
        IsSupersetOf(
            {"ge/ssconf:1: weight_deadline: is 0 here, as nobody is in the list deadlineusers: to count "
             "deadlines of some users, set it to 3600000, and deadline_users",
             "ge/su/deadlineusers:2: entries: nobody is in it: weight_deadline=0 of the policy says "
             "so"}));
    EXPECT_THAT(grid_commands(site("3600000", "")),
                HasSubstr("set policy default_policy weight_deadline = 3600000\n"));
    EXPECT_THAT(grid_notes(site("3600000", "")),
                testing::Contains("ge/ssconf:1: weight_deadline: the deadlines of all users count, as "
                                  "su/deadlineusers is missing: set deadline_users, or weight_deadline=0 to "
                                  "count none"));
    for (const GridFiles& files : {site("3600000", "ann"), site("0", ""), site("0", "NONE")})
        EXPECT_THAT(grid_notes(files), testing::Not(testing::Contains(HasSubstr("weight_deadline: "))));
}

TEST(GridOwners, ListsOfAccessHaveNoShares) {
    for (const std::string& type : std::vector<std::string>{"type ACL\n", ""}) {
        const GridFiles files{
            {"su/defaultdepartment", "name defaultdepartment\ntype DEPT\nfshare 5\noticket 0\n"},
            {"su/staff", "name staff\n" + type + "fshare 0\noticket 33\nentries ann\n"},
            {"su/grp", "name grp\n" + type + "fshare 33\noticket 0\nentries ann\n"}};
        EXPECT_EQ(grid_commands(files), "set policy default_policy functional_shares = [g:PBS_GENERIC=5]\n");
        const int line = type.empty() ? 2 : 3;
        EXPECT_THAT(grid_notes(files), testing::Contains(fmt::format(
                                           "ge/su/grp:{}-{}: fshare, oticket: left out: a list of access "
                                           "has no shares and tickets, only a department (type DEPT) has",
                                           line, line + 1)));
    }
}

TEST(GridOwners, TheOtherLinesAreTold) {
    EXPECT_THAT(
        grid_notes({{"suser/ann", "name ann\noticket 0\nfshare 0\ndelete_time 0\ndefault_project p\n"},
                    {"su/x", "name x\ntype ACL\nentries a\nshade 3\n"}}),
        IsSupersetOf(
            {"ge/suser/ann:1: name: names the owner",
             "ge/suser/ann:2-3: oticket, fshare: nothing to carry over: it is 0",
             "ge/suser/ann:4-5: delete_time, default_project: left out: users and projects are names "
             "here, which nobody makes or deletes",
             "ge/su/x:3: entries: count in rules of quotas; the members of a group are those of the "
             "system",
             "ge/su/x:4: shade: left out: pbs_migrate doesn't know this setting"}));
}

TEST(GridOwners, MistakesAreToldWithTheirPlaces) {
    EXPECT_THAT(grid_problems({{"suser/ann", "name ann\nfshare many\noticket\n"},
                               {"suser/bob", "fshare 1\n"},
                               {"suser/carl", "name ann\nfshare 1\n"},
                               {"suser/a{b", "name a{b\nfshare 1\n"}}),
                ElementsAre("ge/suser/ann:2:8: fshare: 'many' is no number, expected 0 or more",
                            "ge/suser/ann:3:1: oticket: '' is no number, expected 0 or more",
                            AllOf(HasSubstr("ge/suser/a{b:2:8: fshare: "), HasSubstr("'a{b' is no name")),
                            "ge/suser/bob:1:1: has no line name with the file's name, expected one",
                            "ge/suser/carl:1:1: has no line name with the file's name, expected one"));
    EXPECT_THAT(grid_problems({{"suser/ann", "name ann\nfshare 1\nfshare 2\n"}}),
                ElementsAre("ge/suser/ann:3:1: fshare: is there twice, expected it once"));
    EXPECT_THAT(
        grid_problems(
            {{"su/deadlineusers", "name deadlineusers\nentries a\nentries b\n"},
             {"sconf", "enforce_user none\nauto_user_fshare 0\nmax_aj_instances 1\nmax_aj_instances 2\n"}}),
        ElementsAre("ge/sconf:4:1: max_aj_instances: is there twice, expected it once",
                    "ge/su/deadlineusers:3:1: entries: is there twice, expected it once"));
    EXPECT_THAT(grid_problems({{"su/deadlineusers", "name deadlineusers\nentries 'x\n"}}),
                ElementsAre(AllOf(HasSubstr("ge/su/deadlineusers:2:9: entries: "), HasSubstr("expected"))));
}

}  // namespace
}  // namespace pbs::migrate::test
