// Tests the conversion of Grid Engine's complexes: the file sc.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kHead = "#name shortcut type relop requestable consumable default urgency\n#----\n";

TEST(GridComplexes, HaveTheirUrgency) {
    EXPECT_EQ(
        grid_commands({{"sc", kHead + "slots s INT <= YES YES 1 1000\nh_vmem h_vmem MEMORY <= YES YES 0 2\n"
                                      "num_proc p INT == YES NO 0 5\narch a RESTRING == YES NO NONE 0\n"}}),
        "set policy default_policy urgency_of_resources = \"ncpus=1000,vmem=2048\"\n")
        << "sizes count in kilobytes";
    EXPECT_THAT(
        grid_notes({{"sc", kHead + "slots s INT <= YES YES 1 1000\nnum_proc p INT == YES NO 0 5\n"
                                   "arch a RESTRING == YES NO NONE 0\nload_avg la DOUBLE >= NO NO 0 3\n"}}),
        AllOf(Contains("ge/sc:4: num_proc: urgency left out: an earlier complex is the same resource here"),
              Contains("ge/sc:5: arch: a resource of every server"),
              Contains("ge/sc:6: load_avg: urgency left out: no resource here has it")));
}

TEST(GridComplexes, LoseAnUrgencyBelow0WithANote) {
    const GridFiles files{{"sc", kHead + "slots s INT <= YES YES 1 1000\nnum_proc p INT == YES NO 0 -5\n"
                                         "h_vmem h_vmem MEMORY <= YES YES 0 -2\n"}};
    EXPECT_EQ(grid_commands(files), "set policy default_policy urgency_of_resources = ncpus=1000\n");
    EXPECT_THAT(grid_notes(files),
                Contains("ge/sc:4-5: num_proc, h_vmem: urgency left out: here an urgency is at least 0"));
}

TEST(GridComplexes, ComplexesOfTheSiteBecomeResources) {
    EXPECT_EQ(grid_commands({{"sc", kHead + "gpu g INT <= YES YES 0 2000\nscratch scr MEMORY <= YES JOB 0 0\n"
                                            "fast f BOOL == YES NO 0 0\nmodel m CSTRING == YES NO NONE 0\n"
                                            "speed sp DOUBLE <= YES YES 0 0\n"}}),
              "create resource gpu\nset resource gpu type = long\nset resource gpu flag = hqn\n"
              "create resource scratch\nset resource scratch type = size\nset resource scratch flag = hqn\n"
              "create resource fast\nset resource fast type = boolean\nset resource fast flag = h\n"
              "create resource model\nset resource model type = string\nset resource model flag = h\n"
              "create resource speed\nset resource speed type = float\nset resource speed flag = hqn\n"
              "set policy default_policy urgency_of_resources = gpu=2000\n");
    EXPECT_THAT(grid_notes({{"sc", kHead + "gpu g INT <= YES YES 0 0\nfast f BOOL == YES NO 0 0\n"
                                           "lic l INT <= YES YES 0 0\n"}}),
                testing::Contains(
                    "ge/sc:3,5: gpu, lic: vnodes have it (flag hqn): a floating licence needs flag q and "
                    "resources_available of the server"));
    EXPECT_THAT(
        grid_notes({{"sc", kHead + "a.b ab INT <= YES YES 0 0\n"}}),
        testing::Contains(HasSubstr("ge/sc:3: a.b: left out: the name of a resource begins with a letter")));
}

TEST(GridComplexes, ExclusiveOnesAreAskedForByPlace) {
    const GridFiles files{
        {"sc", kHead + "exclusive excl BOOL EXCL YES YES 0 1000\nfast f BOOL == YES NO 0 0\n"},
        {"srqs", "{\n name a\n enabled TRUE\n limit to exclusive=1\n}\n"}};
    EXPECT_THAT(grid_commands(files),
                AllOf(Not(HasSubstr("exclusive")), HasSubstr("create resource fast\n")));
    EXPECT_THAT(
        grid_notes(files),
        AllOf(Contains("ge/sc:3: exclusive: isn't made: jobs that want their vnodes for themselves ask for "
                       "place=excl, or place=exclhost for whole hosts"),
              Contains("ge/sc:3: exclusive: urgency left out: no resource here has it"),
              Contains(HasSubstr("ge/srqs:4:"))));
}

TEST(GridComplexes, ConsumablesThatCountOtherwiseAreTold) {
    const GridFiles files{{"sc", kHead + "lic l INT <= YES JOB 0 0\ngpu g INT <= YES HOST 0 0\n"
                                         "h_vmem h_vmem MEMORY <= YES YES 4G 0\nt t TIME <= YES YES 0:0:0 0\n"
                                         "slots s INT <= YES YES 1 1000\n"}};
    EXPECT_THAT(grid_commands(files), HasSubstr("set resource t type = long\nset resource t flag = hqn\n"));
    EXPECT_THAT(
        grid_notes(files),
        testing::IsSupersetOf(
            {"ge/sc:3: lic: consumable JOB: counts once for a job there, and here for each chunk that names "
             "it: jobs ask for it in one chunk of the job",
             "ge/sc:4: gpu: consumable HOST: counts once for a host there, and here for each chunk that "
             "names "
             "it: jobs ask for it in one chunk of the host",
             "ge/sc:5: h_vmem: its default is left out: default_chunk of the server or a queue gives an "
             "amount "
             "to jobs that don't ask for it"}));
    EXPECT_THAT(grid_notes(files), Not(Contains(HasSubstr("slots: "))));
    EXPECT_THAT(grid_notes(files), Not(Contains(HasSubstr("ge/sc:6: t: its default"))));
}

// The server refuses to create a resource that it has, and the names of resources have no case.
TEST(GridComplexes, OfNamesThatTheServerHasAreNotMade) {
    const GridFiles files{{"sc", kHead +
                                     "software sw STRING == YES NO NONE 0\nWallTime w TIME <= YES NO 0 0\n"
                                     "prefer pr BOOL == YES NO 0 0\ngpu g INT <= YES YES 0 0\n"
                                     "GPU gg INT <= YES YES 0 0\n"}};
    EXPECT_EQ(grid_commands(files),
              "create resource gpu\nset resource gpu type = long\nset resource gpu flag = hqn\n"
              "set policy default_policy urgency_of_resources = ncpus=0\n");
    const auto there = [](int line, const char* name, const char* resource, const char* for_policies) {
        return fmt::format(
            "ge/sc:{}: {}: isn't made: the server has a resource {} of its own{}; if the complex "
            "means something else, rename it before the migration",
            line, name, resource, for_policies);
    };
    EXPECT_THAT(
        grid_notes(files),
        testing::IsSupersetOf({there(3, "software", "software", ""), there(4, "WallTime", "walltime", ""),
                               there(5, "prefer", "prefer", ", which policies act on"),
                               std::string("ge/sc:7: GPU: isn't made: an earlier complex has this name but "
                                           "for the case of letters, which doesn't count here")}));
}

TEST(GridComplexes, ThatTheServerHasStayAsTheyAre) {
    const auto legacy =
        parse(grid_texts({{"sc", kHead + "gpu g INT <= YES NO 0 0\nfast f BOOL == YES NO 0 0\n"}}));
    ASSERT_TRUE(legacy);
    const auto done = convert(*legacy, {.others = {"gpu"}}, nullptr);
    ASSERT_TRUE(done);
    EXPECT_THAT(to_qmgr(*done), AllOf(HasSubstr("create resource fast\n"), testing::Not(HasSubstr("gpu"))));
    EXPECT_THAT(done->report.notes,
                testing::Contains("ge/sc:3: gpu: is left out: the server has this resource already, "
                                  "with a type and flags of its own"));
}

TEST(GridComplexes, ThatAreForcedAreReserved) {
    EXPECT_THAT(
        grid_commands({{"sc", kHead + "gpu g INT <= FORCED YES 0 0\nh_vmem h_vmem MEMORY <= FORCED YES 0 0\n"
                                      "slots s INT <= FORCED YES 1 0\n"}}),
        HasSubstr("set policy default_policy reserved_resources = \"gpu,vmem\"\n"))
        << "every job has slots";
    const GridFiles files{
        {"sc", kHead + "h_vmem h_vmem MEMORY <= FORCED YES 0 0\n"
                       "s_vmem s_vmem MEMORY <= FORCED YES 0 0\na.b ab INT <= FORCED YES 0 0\n"}};
    EXPECT_THAT(grid_commands(files), HasSubstr("set policy default_policy reserved_resources = vmem\n"));
    EXPECT_THAT(
        grid_notes(files),
        AllOf(Contains("ge/sc:4: s_vmem: requestable FORCED: an earlier complex is the same resource here"),
              Contains("ge/sc:5: a.b: requestable FORCED left out: no resource here has it")));
}

TEST(GridComplexes, WithoutAnyUrgencyLeaveNoneToCpus) {
    EXPECT_EQ(
        grid_commands({{"sc", kHead + "slots s INT <= YES YES 1 0\nload_avg la DOUBLE >= NO NO 0 3\n"}}),
        "set policy default_policy urgency_of_resources = ncpus=0\n");
}

TEST(GridComplexes, UrgenciesBecomeWholeNumbers) {
    const GridFiles files{
        {"sc", kHead + "slots s INT <= YES YES 1 1000.4\nh_vmem h MEMORY <= YES YES 0 0.5\n"}};
    EXPECT_THAT(grid_commands(files),
                HasSubstr("set policy default_policy urgency_of_resources = \"ncpus=1000,vmem=512\"\n"));
    EXPECT_THAT(
        grid_notes(files),
        testing::Contains("ge/sc:3: slots: urgency 1000.4 becomes 1000: here an urgency is a whole number"));
}

TEST(GridComplexes, MistakesAreToldWithTheirPlaces) {
    EXPECT_THAT(
        grid_problems({{"sc", kHead + "gpu g INT <= YES YES 0\ngpu g INTEGER <= YES YES 0 0\n"
                                      "gpu g INT <= YES YES 0 much\ngpu g INT <= YES YES 0 1e300\n"}}),
        ElementsAre("ge/sc:3:22: gpu: 7 of 8 words are there, expected name, shortcut, type, relop, "
                    "requestable, consumable, default and urgency",
                    "ge/sc:4:7: gpu: 'INTEGER' is no type, expected INT, DOUBLE, MEMORY, TIME, BOOL, STRING, "
                    "CSTRING, RESTRING or HOST",
                    "ge/sc:5:24: gpu: 'much' is no urgency, expected a number",
                    AllOf(HasSubstr("ge/sc:6:1: gpu: urgency_of_resources: "), HasSubstr("expected"))));
}

}  // namespace
}  // namespace pbs::migrate::test
