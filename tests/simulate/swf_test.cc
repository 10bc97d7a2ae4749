#include "tools/simulate/swf.h"

#include <gmock/gmock.h>

namespace pbs::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kHeader =
    "; Version: 2.2\n; UnixStartTime: 1795392000\n; TimeZoneString: Europe/Berlin\n; MaxNodes: 16\n"
    "; MaxProcs: 64\n; Queue: 2 long (up to 12 hours)\n;\n; a remark: nothing\n";

Trace read(const std::string& text, const SwfOptions& options = {}) {
    auto trace = read_swf(text, "t.swf", options);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error());
    return trace ? *std::move(trace) : Trace{};
}

TEST(Swf, AJobHasItsEighteenFields) {
    const Trace trace =
        read(std::string(kHeader) + "  7 100 5 60.4 4 58.5 2048 8 3600 1024 1 3 9 -1 2 -1 -1 -1\n");
    ASSERT_EQ(trace.jobs.size(), 1U);
    const TraceJob& job = trace.jobs[0];
    EXPECT_EQ(job.number, 7U);
    EXPECT_EQ(job.submit, Instant(Seconds(1795392100)));
    EXPECT_EQ(job.run_time, Seconds(60));
    EXPECT_EQ(job.walltime, Seconds(3600));
    EXPECT_EQ(job.recorded_wait, Seconds(5));
    EXPECT_EQ(job.cpus, 8) << "requested before allocated";
    EXPECT_EQ(job.mem, 8LL * 1024 * 1024) << "kilobytes by processor, requested before used";
    EXPECT_EQ(trace.users[job.user], "user3");
    EXPECT_EQ(trace.groups[job.group], "group9");
    EXPECT_EQ(trace.queues[job.queue], "long");
    EXPECT_EQ(trace.time_zone, "Europe/Berlin");
    EXPECT_EQ(trace.max_nodes, 16);
    EXPECT_EQ(trace.max_cpus, 64);
    EXPECT_TRUE(trace.notes.empty());
}

TEST(Swf, UnknownFieldsAreTakenFromOthersOrLeftOpen) {
    const Trace trace = read("1 0 -1 60 4 -1 512 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    ASSERT_EQ(trace.jobs.size(), 1U);
    const TraceJob& job = trace.jobs[0];
    EXPECT_EQ(job.cpus, 4);
    EXPECT_EQ(job.mem, 4LL * 512 * 1024);
    EXPECT_EQ(job.walltime, Seconds(-1));
    EXPECT_EQ(job.recorded_wait, Seconds(-1));
    EXPECT_EQ(trace.users[job.user], "unknown");
    EXPECT_EQ(trace.queues[job.queue], "");
    EXPECT_EQ(job.submit, Instant(Seconds(978307200)));
    EXPECT_THAT(trace.notes, ElementsAre(HasSubstr("UnixStartTime")));
}

TEST(Swf, JobsAreInTheOrderOfTheirSubmission) {
    const Trace trace = read(
        "1 20 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
        "2 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
        "3 10 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
    std::vector<std::uint64_t> numbers;
    for (const TraceJob& job : trace.jobs) numbers.push_back(job.number);
    EXPECT_THAT(numbers, ElementsAre(2, 3, 1));
}

TEST(Swf, WhatIsNoJobToSimulateIsCounted) {
    const Trace trace = read(
        "1 0 5 -1 -1 -1 -1 2 60 -1 5 1 1 -1 -1 -1 -1 -1\n"
        "2 0 5 0 -1 -1 -1 2 60 -1 5 1 1 -1 -1 -1 -1 -1\n"
        "3 0 5 10 -1 -1 -1 2 60 -1 5 1 1 -1 -1 -1 -1 -1\n"  // cancelled while it ran: counts as a job that
                                                            // ran
        "4 0 5 -1 2 -1 -1 2 60 -1 0 1 1 -1 -1 -1 -1 -1\n"
        "5 0 5 10 -1 -1 -1 -1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
        "5 0 5 10 1 -1 -1 1 60 -1 2 1 1 -1 -1 -1 -1 -1\n"
        "5 -1 5 10 1 -1 -1 1 60 -1 3 1 1 -1 -1 -1 -1 -1\n");
    ASSERT_EQ(trace.jobs.size(), 1U);
    EXPECT_EQ(trace.jobs[0].number, 3U);
    EXPECT_THAT(
        trace.left_out,
        ElementsAre(Pair("cancelled before it ran", 2), Pair("no number of processors is known", 1),
                    Pair("no run time is known", 1), Pair("part of a job whose whole is listed too", 2)));
}

TEST(Swf, NamesOfQueuesGivenGoBeforeThoseOfTheTrace) {
    const std::string line = "1 0 -1 60 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1\n";
    const Trace trace = read(kHeader + line, {{{2, "batch"}}});
    EXPECT_EQ(trace.queues[trace.jobs.at(0).queue], "batch");
}

struct Wrong {
    const char* text;
    const char* message;
};
class SwfWrong : public testing::TestWithParam<Wrong> {};

TEST_P(SwfWrong, IsRefusedWithItsPlace) {
    const auto trace = read_swf(GetParam().text, "t.swf");
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, SwfWrong,
    testing::Values(
        Wrong{"; ok\n\n1 0 -1 x 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1\n",
              "t.swf: line 3, column 8: run time (field 4): found 'x', expected a number"},
        Wrong{"1 0 -1 60 4\n",
              "t.swf: line 1, column 12: found 5 fields, expected 18: the average CPU time is missing"},
        Wrong{"1 0 -1 60 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1 9\n",
              "t.swf: line 1, column 50: found more than 18 fields, expected 18"},
        Wrong{"1 -5 -1 60 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1",
              "t.swf: line 1, column 1: submit time (field 2): found -5, expected 0 to 100000000000 seconds"},
        Wrong{"1 0 -1 nan 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1",
              "t.swf: line 1, column 8: run time (field 4): found 'nan', expected a number"},
        Wrong{"1 0 -1 1e13 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1",
              "t.swf: line 1, column 8: run time (field 4): found 1e13, expected a number from -1 to "
              "1000000000000"},
        Wrong{"1 0 -1 1e11 4 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1",
              "t.swf: line 1, column 1: run time (field 4): found 100000000000, expected at most 1000000000 "
              "seconds"},
        Wrong{"1 0 -1 60 1e9 -1 -1 -1 -1 -1 1 -1 -1 -1 2 -1 -1 -1",
              "t.swf: line 1, column 1: processors (field 8 or 5): found 1000000000, expected at most "
              "100000000"}));

}  // namespace
}  // namespace pbs::simulate
