#include "tools/simulate/accounting.h"

#include <gmock/gmock.h>

namespace pbs::simulate {
namespace {

using testing::ElementsAre;
using testing::Pair;

Trace read(const std::vector<LogText>& logs) {
    auto trace = read_accounting(logs);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error());
    return trace ? *std::move(trace) : Trace{};
}

constexpr const char* kJob =
    "11/23/2026 10:00:00;Q;1.host;user=ann group=staff queue=submit ctime=1000 qtime=1000 etime=1000\n"
    "11/23/2026 10:00:10;S;1.host;user=ann group=staff queue=batch ctime=1000 qtime=1010 etime=1000 "
    "start=1010 "
    "exec_host=n1/0*2\n"
    "11/23/2026 10:01:10;E;1.host;user=ann group=staff project=rescue account=\"a \\\"b\\\"\" jobname='my "
    "job' queue=batch "
    "ctime=1000 qtime=1010 etime=1005 start=1010 exec_host=n1/0*2 Resource_List.mem=2gb "
    "Resource_List.ncpus=4 "
    "Resource_List.nodect=2 Resource_List.select=2:ncpus=2 Resource_List.walltime=00:10:00 session=77 "
    "end=1070 "
    "Exit_status=0 resources_used.walltime=00:01:00 run_count=1\n";

TEST(AccountingLog, AJobIsWhatItsRecordsTell) {
    const Trace trace = read({{"20261123", kJob}});
    ASSERT_EQ(trace.jobs.size(), 1U);
    const TraceJob& job = trace.jobs[0];
    EXPECT_EQ(trace.name, "20261123");
    EXPECT_EQ(job.number, 1U);
    EXPECT_EQ(job.submit, Instant(Seconds(1005)));
    EXPECT_EQ(job.run_time, Seconds(60));
    EXPECT_EQ(job.walltime, Seconds(600));
    EXPECT_EQ(job.recorded_wait, Seconds(5));
    EXPECT_EQ(job.cpus, 4);
    EXPECT_EQ(trace.users[job.user], "ann");
    EXPECT_EQ(trace.groups[job.group], "staff");
    EXPECT_EQ(trace.projects[job.project], "rescue");
    EXPECT_EQ(trace.queues[job.queue], "submit");
    ASSERT_LT(job.request, trace.requests.size());
    EXPECT_THAT(trace.requests[job.request],
                ElementsAre(Pair("mem", "2gb"), Pair("ncpus", "4"), Pair("select", "2:ncpus=2")));
}

TEST(AccountingLog, FilesMayComeInAnyOrder) {
    const std::string text = kJob;
    const auto first_line = text.find('\n') + 1;
    const Trace trace = read({{"b", text.substr(first_line)}, {"a", text.substr(0, first_line)}});
    ASSERT_EQ(trace.jobs.size(), 1U);
    EXPECT_EQ(trace.queues[trace.jobs[0].queue], "submit");
}

TEST(AccountingLog, CpusComeFromSelectWhereThereIsNoNumber) {
    const Trace trace = read({{"a",
                               "11/23/2026 10:01:10;E;3.h;ctime=10 start=20 end=30 "
                               "Resource_List.select=2:ncpus=3:mem=1gb+5:mem=1gb\n"
                               "11/23/2026 10:01:10;E;4.h;ctime=10 start=20 end=30\n"}});
    ASSERT_EQ(trace.jobs.size(), 2U);
    EXPECT_EQ(trace.jobs[0].cpus, 11);
    EXPECT_EQ(trace.jobs[1].cpus, 1);
    EXPECT_EQ(trace.jobs[1].walltime, Seconds(-1));
    EXPECT_EQ(trace.users[trace.jobs[1].user], "unknown");
}

TEST(AccountingLog, TheLastRunCountsAndJobsWithoutAnEndAreCounted) {
    const Trace trace = read({{"a",
                               "11/23/2026 10:00:00;Q;1.h;queue=workq\n"
                               "11/23/2026 10:00:00;R;1.h;ctime=10 start=20 end=30\n"
                               "11/23/2026 10:00:00;E;1.h;ctime=10 start=50 end=90\n"
                               "11/23/2026 10:00:00;Q;2.h;queue=workq\n"
                               "11/23/2026 10:00:00;D;2.h;requestor=ann@h\n"
                               "11/23/2026 10:00:00;S;3.h;queue=workq start=5\n"
                               "11/23/2026 10:00:00;E;4.h;ctime=10 end=90\n"
                               "11/23/2026 10:00:00;L;license;floating license hour:0 day:0 month:0 max:10\n"
                               "11/23/2026 10:00:00;PROV_START;5.h;anything\n"}});
    ASSERT_EQ(trace.jobs.size(), 1U);
    EXPECT_EQ(trace.jobs[0].run_time, Seconds(40));
    EXPECT_EQ(trace.jobs[0].recorded_wait, Seconds(40));
    EXPECT_THAT(trace.left_out, ElementsAre(Pair("deleted before it ended", 1),
                                            Pair("ended before it ran", 1), Pair("no end is recorded", 1)));
}

// A job that was suspended has run for the walltime that it used. Other jobs have run from their starts to
// their ends.
TEST(AccountingLog, TheWalltimeOfASuspendedJobIsItsRunTime) {
    const Trace trace =
        read({{"b",
               "11/23/2026 10:00:00;E;1.h;ctime=10 start=20 end=90 resources_used.walltime=00:00:40\n"
               "11/23/2026 10:00:00;E;2.h;ctime=10 start=20 end=90 resources_used.walltime=00:00:40\n"
               "11/23/2026 10:00:00;E;3.h;ctime=10 start=20 end=90\n"
               "11/23/2026 10:00:00;E;4.h;ctime=10 start=20 end=90 resources_used.walltime=much\n"},
              {"a",
               "11/23/2026 10:00:00;z;1.h;user=ann\n11/23/2026 10:00:00;r;1.h;user=ann\n"
               "11/23/2026 10:00:00;z;3.h;user=ann\n11/23/2026 10:00:00;z;4.h;user=ann\n"}});
    std::vector<Seconds> ran;
    for (const TraceJob& job : trace.jobs) ran.push_back(job.run_time);
    EXPECT_THAT(ran, ElementsAre(Seconds(40), Seconds(70), Seconds(70), Seconds(70)));
}

struct Wrong {
    const char* text;
    const char* message;
};
class AccountingWrong : public testing::TestWithParam<Wrong> {};

TEST_P(AccountingWrong, IsRefusedWithItsPlace) {
    const auto trace = read_accounting({{"log", GetParam().text}});
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, AccountingWrong,
    testing::Values(
        Wrong{"\nhello\n",
              "log: line 2, column 1: expected a record, MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value ..."},
        Wrong{"11/23/2026 10:00:00\n",
              "log: line 1, column 20: expected a record, MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value ..."},
        Wrong{"11/23/2026 10:00:00;;\n",
              "log: line 1, column 21: expected the type of the record and a semicolon"},
        Wrong{"11/23/2026 10:00:00;E;1.h\n", "log: line 1, column 23: expected an id and a semicolon"},
        Wrong{"11/23/2026 10:00:00;E;1.h;start=x end=5 ctime=1\n",
              "log: line 1, column 33: start: found 'x', expected seconds since the Epoch"},
        Wrong{"11/23/2026 10:00:00;E;1.h;start=1 ctime=1\n",
              "log: line 1, column 27: E record of job 1.h: no end"},
        Wrong{"11/23/2026 10:00:00;E;1.h;start=1 end=2\n",
              "log: line 1, column 27: E record of job 1.h: no etime or ctime"},
        Wrong{"11/23/2026 10:00:00;E;1.h;ctime=1 start=3 end=2\n",
              "log: line 1, column 27: E record of job 1.h: its end, 2, is before its start, 3"},
        Wrong{"11/23/2026 10:00:00;E;1.h;ctime=1 start=3 end=4 Resource_List.walltime=soon\n",
              "log: line 1, column 72: Resource_List.walltime: found 'soon', expected HH:MM:SS or seconds"},
        Wrong{"11/23/2026 10:00:00;E;1.h;ctime=1 start=3 end=4 Resource_List.ncpus=-1\n",
              "log: line 1, column 69: Resource_List.ncpus: found '-1', expected 0 to 100000000"}));

}  // namespace
}  // namespace pbs::simulate
