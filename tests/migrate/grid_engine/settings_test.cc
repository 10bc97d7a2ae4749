// Tests the conversion of the settings of Grid Engine's scheduler: the file ssconf.
#include "migrate/migrate.h"
#include "objects/store.h"
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kTree = "id=0\nname=Root\nchildnodes=1\nid=1\nname=ann\nshares=3\n";

TEST(GridSettings, BecomeAttributesOfThePolicy) {
    EXPECT_EQ(grid_commands({{"ssconf",
                              "weight_ticket 0.010000\nweight_waiting_time 0.278\nweight_deadline 3600000\n"
                              "weight_urgency 0.5\nweight_priority 4.0\nweight_tickets_functional 500000000\n"
                              "weight_tickets_share 10000\nshare_override_tickets FALSE\n"
                              "share_functional_shares TRUE\nmax_functional_jobs_to_schedule 5000\n"
                              "policy_hierarchy OSF\nweight_user 1.0\nweight_job 0\n"}}),
              kOrderOfJobs +
                  "set policy default_policy weight_tickets = 0.01\n"
                  "set policy default_policy weight_waiting_time = 0.278\n"
                  "set policy default_policy weight_deadline = 3600000\n"
                  "set policy default_policy weight_urgency = 0.5\n"
                  "set policy default_policy weight_job_priority = 4\n"
                  "set policy default_policy tickets_functional = 500000000\n"
                  "set policy default_policy tickets_share = 10000\n"
                  "set policy default_policy share_override_tickets = False\n"
                  "set policy default_policy share_functional_shares = True\n"
                  "set policy default_policy max_functional_jobs = 5000\n"
                  "set policy default_policy ticket_order = OSF\n"
                  "set policy default_policy functional_weights = \"user=1,job=0\"\n");
}

// By default a policy orders the jobs of each queue on their own, and puts starving jobs before all others.
TEST(GridSettings, NothingGoesBeforeTheWeightedPriority) {
    const GridFiles files{{"ssconf", "weight_priority 4.0\n"}};
    EXPECT_THAT(grid_commands(files), testing::StartsWith(kOrderOfJobs));
    EXPECT_THAT(grid_conversion(files)->report.notes, Contains(kOverAllQueues));
    EXPECT_EQ(grid_commands({{"srqs", "no resource quota set defined\n"}}), "");
    const Folder folder;
    auto store = objects::Store::open(folder.path("policy.db"), {"UTC", {}}, {});
    ASSERT_TRUE(store);
    const objects::Identity manager{"root", "localhost", objects::manager_privilege};
    const auto migrated = [&] {
        const auto done = migrate(grid_texts(files), *store, manager, {}, {}, {});
        EXPECT_TRUE(done);
        return done ? done->report.notes : std::vector<std::string>();
    };
    EXPECT_THAT(migrated(), Not(Contains(HasSubstr("goes first"))));
    ASSERT_TRUE(store->execute({objects::CommandKind::set,
                                objects::ObjectType::policy,
                                "default_policy",
                                {{"round_robin", "True"}, {"weighted_priority", "False"}}},
                               manager, {}));
    EXPECT_THAT(migrated(), Contains("policy default_policy: round_robin goes first: weighted_priority "
                                     "orders only the jobs of one queue"));
}

TEST(GridSettings, APriorityThatUsersMayRaiseIsTold) {
    const auto told = Contains(HasSubstr("weight_priority: users may raise the Priority of their jobs here"));
    EXPECT_THAT(grid_notes({{"ssconf", "weight_priority 1.0\n"}}), told);
    EXPECT_THAT(grid_notes({{"ssconf", "weight_priority 0.000000\n"}}), Not(told));
}

TEST(GridSettings, SettingsOfTheShareTreeBecomeAttributesOfTheFsGroup) {
    const std::string settings =
        "halftime 168\nusage_weight_list cpu=1.0,mem=0.5,io=0.1\ncompensation_factor 3.0\n";
    EXPECT_THAT(
        grid_commands({{"ssconf", settings}, {"sstree", kTree}}),
        AllOf(HasSubstr("set fs_group default_fs_group half_life = 168:00:00\n"),
              HasSubstr("set fs_group default_fs_group usage_formula = cput+0.5*mem*walltime/1048576\n"),
              HasSubstr("set fs_group default_fs_group compensation_factor = 3\n")));
    EXPECT_THAT(grid_commands({{"ssconf", "halftime 0\n"}, {"sstree", kTree}}),
                HasSubstr("set fs_group default_fs_group decay_factor = 1\n"))
        << "usage never decays";
    EXPECT_THAT(grid_notes({{"ssconf", settings}, {"sstree", kTree}}),
                Contains("ge/ssconf:2: usage_weight_list: io is left out: it isn't measured here"));
    EXPECT_THAT(grid_commands({{"ssconf", settings}}), Not(HasSubstr("fs_group")));
    EXPECT_THAT(grid_commands({{"ssconf", settings}, {"sstree", "no sharetree element\n"}}),
                Not(HasSubstr("fs_group")));
    EXPECT_THAT(
        grid_notes({{"ssconf", settings}}),
        Contains("ge/ssconf:1-3: halftime, usage_weight_list, compensation_factor: left out: there is no "
                 "share tree (sstree) that it could be about"));
}

TEST(GridSettings, JobsOfAUserBecomeAQuota) {
    EXPECT_THAT(grid_commands({{"ssconf", "maxujobs 12\n"}}),
                HasSubstr("create quota maxujobs\n"
                          "set quota maxujobs rule.each = \"users={*} to jobs=12\"\n"
                          "set quota maxujobs enabled = True\n" +
                          kOrderOfJobs + "set policy default_policy quotas = maxujobs\n"));
    EXPECT_THAT(grid_commands({{"ssconf", "maxujobs 0\n"}}), Not(HasSubstr("quota")));
}

TEST(GridSettings, JobsWithFunctionalTicketsStayInRange) {
    const std::vector<std::pair<std::string, std::string>> numbers{
        {"0", "1"}, {"1", "1"}, {"100000", "100000"}, {"2000000", "100000"}};
    for (const auto& [number, here] : numbers) {
        const GridFiles files{
            {"ssconf",
             fmt::format("max_functional_jobs_to_schedule {}\nweight_tickets_functional 5\n", number)}};
        EXPECT_THAT(grid_commands(files),
                    HasSubstr(fmt::format("set policy default_policy max_functional_jobs = {}\n", here)));
        const auto told = testing::Contains(
            fmt::format("ge/ssconf:1: max_functional_jobs_to_schedule: is {} here: 1 to 100000 jobs", here));
        if (number == here) {
            EXPECT_THAT(grid_notes(files), Not(told));
        } else {
            EXPECT_THAT(grid_notes(files), told);
        }
    }
    EXPECT_THAT(
        grid_problems({{"ssconf", "max_functional_jobs_to_schedule all\n"}}),
        ElementsAre(
            "ge/ssconf:1:33: max_functional_jobs_to_schedule: 'all' is no number, expected 0 or more"));
}

TEST(GridSettings, OfFunctionalTicketsAreLeftOutWithoutThem) {
    const std::string settings =
        "weight_user 0.25\nshare_functional_shares TRUE\nmax_functional_jobs_to_schedule 200\n";
    for (const char* tickets : {"", "weight_tickets_functional 0\n"}) {
        const GridFiles files{{"ssconf", settings + tickets}};
        EXPECT_THAT(grid_commands(files), AllOf(Not(HasSubstr("functional_")), Not(HasSubstr("max_"))))
            << tickets;
        EXPECT_THAT(
            grid_notes(files),
            Contains("ge/ssconf:1-3: weight_user, share_functional_shares, "
                     "max_functional_jobs_to_schedule: left out: without weight_tickets_functional it "
                     "has no effect"));
    }
    EXPECT_THAT(
        grid_commands({{"ssconf", settings + "weight_tickets_functional 9\n"}}),
        AllOf(HasSubstr("functional_weights = user=0.25\n"), HasSubstr("share_functional_shares = True\n"),
              HasSubstr("max_functional_jobs = 200\n")));
    EXPECT_THAT(grid_problems({{"ssconf", "share_functional_shares perhaps\n"}}),
                ElementsAre(HasSubstr("ge/ssconf:1:25: share_functional_shares: ")));
}

TEST(GridSettings, ReservationsBecomeTopJobs) {
    EXPECT_THAT(grid_commands({{"ssconf", "max_reservation 20\n"}}),
                HasSubstr("set policy default_policy strict_ordering = True\n"
                          "set policy default_policy backfill_depth = 20\n"));
    EXPECT_THAT(grid_commands({{"ssconf", "max_reservation 0\n"}}),
                AllOf(HasSubstr("strict_ordering = False\n"), Not(HasSubstr("backfill_depth"))));
}

TEST(GridSettings, ReservationsKeepJobsFromClosedTimesOfTheirQueues) {
    const auto site = [](const std::string& reservations, const std::string& calendar) {
        return grid_commands({{"ssconf", "max_reservation " + reservations + "\n"},
                              {"scal/c", "calendar_name c\nyear NONE\nweek sat-sun=suspended\n"},
                              {"scal/on", "calendar_name on\nyear NONE\nweek NONE\n"},
                              {"sq/all.q", "qname all.q\ncalendar " + calendar + "\n"}});
    };
    EXPECT_THAT(site("20", "c"), HasSubstr("set policy default_policy backfill_prime = True\n"));
    EXPECT_THAT(site("0", "c"), Not(HasSubstr("backfill_prime")));
    EXPECT_THAT(site("20", "on"), Not(HasSubstr("backfill_prime")));
    EXPECT_THAT(site("20", "NONE"), Not(HasSubstr("backfill_prime")));
}

TEST(GridSettings, WeighRunningJobsIfGridEngineDid) {
    EXPECT_THAT(grid_commands({{"ssconf", "reprioritize_interval 0:2:0\n"}}),
                HasSubstr("set policy default_policy reprioritize = True\n"));
    EXPECT_THAT(grid_commands({{"ssconf", "reprioritize_interval 0:0:0\n"}}), Not(HasSubstr("reprioritize")));
}

TEST(GridSettings, WithoutACounterpartAreTold) {
    EXPECT_THAT(
        grid_notes({{"ssconf",
                     "load_formula slots\nschedule_interval 0:0:1\nflush_submit_sec 0\n"
                     "halflife_decay_list cpu=5\nfair_urgency_list NONE\n"
                     "params PROFILE=1\n"}}),
        ElementsAre(
            "ge/ssconf:1: load_formula: left out: the vnodes here have no load slots; a number that is set "
            "in "
            "their resources_available can be one",
            "ge/ssconf:2-3: schedule_interval, flush_submit_sec: left out: cycles follow events, at once",
            "ge/ssconf:4: halflife_decay_list: left out: an entity has one usage, and so one half-life",
            "ge/ssconf:5: fair_urgency_list: left out: pbs_migrate doesn't know this setting",
            "ge/ssconf:6: params: left out: PROFILE, MONITOR and the like: pbs_diag and pbs_web show what "
            "a scheduler does"));
}

// Complexes, with the columns name, shortcut, type, relop, requestable, consumable, default, urgency.
constexpr const char* kLoads =
    "scratch sc DOUBLE >= NO NO 0 0\nroom rm MEMORY <= NO NO 0 0\nkind k STRING == YES NO NONE 0\n";

TEST(GridSettings, SettingsOfLoadsBecomeTheOrderOfVnodes) {
    EXPECT_EQ(grid_commands({{"ssconf",
                              "queue_sort_method load\njob_load_adjustments np_load_avg=0.50\n"
                              "load_adjustment_decay_time 0:7:30\nload_formula np_load_avg\n"}}),
              kOrderOfJobs +
                  "set policy default_policy job_load_adjustments = np_load_avg=0.5\n"
                  "set policy default_policy load_formula = np_load_avg\n"
                  "set policy default_policy node_sort_key = \"load_formula LOW,sort_priority HIGH\"\n"
                  "set policy default_policy load_adjustment_decay_time = 00:07:30\n");
    EXPECT_THAT(
        grid_notes({{"ssconf", "load_adjustment_decay_time 0:7:30\nqueue_sort_method load\n"}}),
        testing::UnorderedElementsAre(
            "ge/ssconf:1: load_adjustment_decay_time: left out: without job_load_adjustments it has no "
            "effect",
            "ge/ssconf:2: queue_sort_method: left out: node_sort_key of the policy orders the vnodes"));
    EXPECT_THAT(grid_commands({{"ssconf",
                                "load_formula $la+0.5*sc-rm\nqueue_sort_method seqno\n"
                                "job_load_adjustments nla=1,rm=2M\n"},
                               {"sc", kLoads}}),
                AllOf(HasSubstr("load_formula = load_avg+0.5*scratch-room\n"),
                      HasSubstr("job_load_adjustments = \"np_load_avg=1,room=2048\"\n"),
                      HasSubstr("node_sort_key = \"sort_priority HIGH,load_formula LOW\"\n")))
        << "sizes count in kilobytes";
    EXPECT_THAT(
        grid_commands({{"ssconf", "job_load_adjustments np_load_avg=1\nload_adjustment_decay_time 0:0:0\n"}}),
        HasSubstr("load_adjustment_decay_time = 00:00:00\n"))
        << "without it the adjustments would last for the default";
    EXPECT_THAT(
        grid_notes({{"ssconf", "job_load_adjustments NONE\nload_adjustment_decay_time NONE\n"}}),
        ElementsAre("ge/ssconf:1-2: job_load_adjustments, load_adjustment_decay_time: nothing to carry "
                    "over: it is switched off"));
}

TEST(GridSettings, TheUsualLoadFormulaNeedsNoNote) {
    for (const char* formula : {"np_load_avg", "load_avg", "2*$nla-la"})
        EXPECT_THAT(grid_notes({{"ssconf", fmt::format("load_formula {}\n", formula)}}), testing::IsEmpty());
    EXPECT_THAT(grid_notes({{"ssconf", "load_formula scratch\n"}, {"sc", kLoads}}),
                Not(Contains(HasSubstr("'scratch' is not a known resource"))))
        << "the migration makes the resource";
}

TEST(GridSettings, LoadsThatNoVnodeHasAreReported) {
    for (const char* name : {"load_short", "kind", "mystery", "mem_free"}) {
        const GridFiles files{
            {"ssconf", fmt::format("load_formula np_load_avg+{0}\njob_load_adjustments {0}=1\n", name)},
            {"sc", kLoads}};
        EXPECT_THAT(grid_commands(files), Not(HasSubstr("load_")));
        EXPECT_THAT(
            grid_notes(files),
            Contains(fmt::format("ge/ssconf:1-2: load_formula, job_load_adjustments: left out: the vnodes "
                                 "here have no load {}; a number that is set in their "
                                 "resources_available can be one",
                                 name)));
    }
    EXPECT_THAT(
        grid_problems({{"ssconf", "load_formula np_load_avg+*2\njob_load_adjustments la=x\n"}}),
        ElementsAre(HasSubstr("ge/ssconf:1:14: load_formula: 'np_load_avg+*2' is no formula of loads"),
                    HasSubstr("ge/ssconf:2:22: job_load_adjustments: 'la=x' is no adjustment")));
}

TEST(GridSettings, SettingsOfPlannedDurationsBecomeThoseOfThePolicy) {
    EXPECT_EQ(grid_commands({{"ssconf", "default_duration 8:00:00\nparams MONITOR=1,DURATION_OFFSET=60\n"}}),
              kOrderOfJobs +
                  "set policy default_policy default_duration = 08:00:00\n"
                  "set policy default_policy duration_offset = 00:01:00\n");
    EXPECT_THAT(grid_notes({{"ssconf", "default_duration INFINITY\n"}}),
                ElementsAre("ge/ssconf:1: default_duration: nothing to carry over: a job without a walltime "
                            "has no expected end"));
    EXPECT_THAT(grid_problems({{"ssconf", "params DURATION_OFFSET=x\n"}}),
                ElementsAre(AllOf(HasSubstr("ge/ssconf:1:8: params: "), HasSubstr("'x'"))));
}

TEST(GridSettings, MistakesAreToldWithTheirPlaces) {
    EXPECT_THAT(
        grid_problems({{"ssconf",
                        "weight_user  few\nmaxujobs -1\nhalftime 1.5\nweight_ticket \\\n  heavy\n"
                        "max_reservation x\nusage_weight_list cpu=1,mem\nweight_job\nmaxujobs 1\n"
                        "policy_hierarchy OOF\nshare_override_tickets perhaps\n"}}),
        ElementsAre(
            "ge/ssconf:1:14: weight_user: 'few' is no weight, expected a number of at least 0",
            "ge/ssconf:2:10: maxujobs: '-1' is no number, expected 0 or more",
            "ge/ssconf:3:10: halftime: '1.5' is no number of hours, expected 0 or more",
            AllOf(HasSubstr("ge/ssconf:5:3: weight_ticket: "), HasSubstr("heavy"), HasSubstr("expected")),
            "ge/ssconf:6:17: max_reservation: 'x' is no number, expected 0 or more",
            "ge/ssconf:7:25: usage_weight_list: 'mem' is no weight of usage, expected cpu=1.0 or the like",
            "ge/ssconf:8:1: weight_job: 'weight_job' has no value, expected a name and a value",
            "ge/ssconf:9:10: maxujobs: is there twice, expected each setting once",
            "ge/ssconf:10:18: policy_hierarchy: 'OOF' is no order, expected some of O, F and S, each once, "
            "or NONE",
            AllOf(HasSubstr("ge/ssconf:11:24: share_override_tickets: "), HasSubstr("perhaps"))));
}

}  // namespace
}  // namespace pbs::migrate::test
