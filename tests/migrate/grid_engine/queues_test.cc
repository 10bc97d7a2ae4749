// Tests the conversion of Grid Engine's queues: the files in sq/.
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLoadsOfQueues =
    "scratch sc DOUBLE >= NO NO 0 0\nroom rm MEMORY <= NO NO 0 0\nkind k STRING == YES NO NONE 0\n";

TEST(GridQueues, HaveTheWindowsOfTheirCalendars) {
    GridFiles files{{"scal/c", "calendar_name c\nyear NONE\nweek sat=6-20\n"}};
    files["scal/c_2"] = "calendar_name c_2\nyear NONE\nweek off\n";
    files["sq/all.q"] = "qname all.q\nslots 4\ncalendar c,[n1=x]\nh_rt INFINITY\nfrob 1\nprolog NONE\n";
    EXPECT_THAT(grid_commands(files), AllOf(HasSubstr("create time_window c_3\n"),
                                            HasSubstr("set queue all.q time_window = \"c,c_3,c_4\"\n")));
    EXPECT_THAT(
        grid_notes(files),
        AllOf(
            Contains(
                "ge/sq/all.q:3: calendar: calendars of single hosts are left out: the windows of a queue "
                "hold on all its vnodes"),
            Contains(
                "ge/sq/all.q:2: slots: left out: resources_available of vnodes and of the queue has amounts"),
            Contains("ge/sq/all.q:4,6: h_rt, prolog: nothing to carry over: NONE, INFINITY or UNDEFINED"),
            Contains("ge/sq/all.q:5: frob: left out: pbs_migrate doesn't know this setting")));
    files.erase("sq/all.q");
    files["sq/a_very_long_name.q"] = "qname a_very_long_name.q\ncalendar c\n";
    EXPECT_THAT(grid_commands(files), Not(HasSubstr("set queue")));
    EXPECT_THAT(
        grid_notes(files),
        Contains(HasSubstr("ge/sq/a_very_long_name.q:2: calendar: left out: 'a_very_long_name.q' can't "
                           "be the name of a queue here")));
    files.erase("sq/a_very_long_name.q");
    files["sq/all.q"] = "qname all.q\ncalendar nights\n";
    EXPECT_THAT(
        grid_problems(files),
        ElementsAre(
            "ge/sq/all.q:2:10: calendar: there is no calendar 'nights', expected the file scal/nights "
            "with it (qconf -scal nights)"));
    EXPECT_THAT(grid_problems({{"sq/a", "qname b\n"}}),
                ElementsAre("ge/sq/a:1:7: qname: isn't the file's name, expected that"));
}

TEST(GridQueues, HaveTheirThresholdsInThePolicy) {
    const auto queue = [](const std::string& name, const std::string& thresholds) {
        return std::pair<const std::string, std::string>{
            "sq/" + name, fmt::format("qname {}\nload_thresholds {}\n", name, thresholds)};
    };
    EXPECT_THAT(
        grid_commands(
            {queue("all.q", "np_load_avg=1.75,sc=2"), queue("big.q", "rm=500M"), {"sc", kLoadsOfQueues}}),
        HasSubstr("set policy default_policy load_thresholds = \"all.q:np_load_avg >= 1.75,all.q:scratch >= "
                  "2,big.q:room <= 512000\"\n"))
        << "by the complexes' own relations";
    EXPECT_THAT(grid_commands({queue("all.q", "NONE")}), Not(HasSubstr("thresholds")));
    EXPECT_THAT(grid_notes({queue("all.q", "mem_free=1G,[h1=np_load_avg=2]")}),
                AllOf(Contains(HasSubstr("load_thresholds: thresholds of single hosts are left out")),
                      Contains(HasSubstr("load_thresholds: mem_free is left out"))));
    EXPECT_THAT(grid_notes({queue("a-queue-with-a-long-name", "np_load_avg=2")}),
                Contains(HasSubstr("can't be the name of a queue here")));
    EXPECT_THAT(grid_problems({queue("all.q", "np_load_avg")}),
                ElementsAre(HasSubstr("ge/sq/all.q:2:17: load_thresholds: 'np_load_avg' is no threshold")));
}

}  // namespace
}  // namespace pbs::migrate::test
