#include "ifl/cmds/trace_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace pbs::cmds {
namespace {

std::vector<TraceLine> find(const std::string& text, char file, std::string_view job) {
    std::istringstream in(text);
    std::vector<TraceLine> lines;
    find_trace_lines(in, file, job, lines);
    return lines;
}

constexpr const char* kLog =
    "11/23/2026 10:00:00.000001;0008;Server@h;Job;1.svr;Job Queued at request of a@h; owner = a\n"
    "11/23/2026 10:00:00.000002;0008;Server@h;Job;12.svr;other\n"
    "11/23/2026 10:00:02.000000;0040;Server@h;Job;1.svr;decision dropped\n"
    "11/23/2026 10:00:03.000000;0001;Server@h;Svr;Server;1.svr is not its name\n"
    "broken\n;;;;;\n";
constexpr const char* kAccounting =
    "11/23/2026 10:00:00;Q;1.svr;user=a queue=q\n11/23/2026 10:00:01;S;2.svr;x=1\n";

TEST(TraceLog, FindsTheLinesOfAJobByNumberOrIdentifier) {
    for (const char* job : {"1", "1.svr"}) {
        const auto lines = find(kLog, 'S', job);
        ASSERT_EQ(lines.size(), 2U) << job;
        EXPECT_EQ(lines[0].text, "Job Queued at request of a@h; owner = a");
        EXPECT_EQ(lines[0].event, 8U);
        EXPECT_EQ(lines[1].event, 0x40U);
        EXPECT_EQ(find(kAccounting, 'A', job).at(0).text, "user=a queue=q");
    }
    for (const char* job : {"2.svr", "1.s", "3", "", "svr"}) EXPECT_TRUE(find(kLog, 'S', job).empty()) << job;
}

TEST(TraceLog, IsInTheOrderOfTime) {
    auto lines = find(kAccounting, 'A', "1");
    for (const TraceLine& line : find(kLog, 'S', "1")) lines.push_back(line);
    lines.push_back({"12/01/2025 10:00:00", 'A', 0, "1.svr", "the year before"});
    sort_trace_lines(lines);
    EXPECT_EQ(trace_text(lines, 0),
              "\nJob: 1.svr\n\n"
              "12/01/2025 10:00:00         A    the year before\n"
              "11/23/2026 10:00:00.000001  S    Job Queued at request of a@h; owner = a\n"
              "11/23/2026 10:00:00         A    user=a queue=q\n"
              "11/23/2026 10:00:02.000000  S    decision dropped\n");
}

TEST(TraceLog, WrapsAtBlanks) {
    const std::vector<TraceLine> lines{
        {"11/23/2026 10:00:00", 'A', 0, "1.svr", "one two threeandfour five\x1b"}};
    EXPECT_EQ(trace_text(lines, 36),
              "\nJob: 1.svr\n\n"
              "11/23/2026 10:00:00  A    one two\n"
              "                          threeandfour\n"
              "                          five^[\n");
    EXPECT_EQ(trace_text({}, 80), "");
}

TEST(TraceLog, LeavesOneOfMessagesThatComeTooOften) {
    std::vector<TraceLine> lines(3, TraceLine{"", 'S', 8, "1.svr", "often"});
    lines.push_back({"", 'S', 8, "1.svr", "once"});
    auto all = lines;
    drop_excessive(all, 4);
    EXPECT_EQ(all, lines);
    drop_excessive(lines, 3);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].text, "often");
}

TEST(TraceLog, KnowsEventsByNameAndNumber) {
    EXPECT_EQ(event_mask("job"), 8U);
    EXPECT_EQ(event_mask("debug4"), 0x800U);
    EXPECT_EQ(event_mask("0x1f"), 0x1fU);
    EXPECT_EQ(event_mask("18"), 0x18U);
    for (const char* wrong : {"", "jobs", "f", "-1", "0x", "12g"}) EXPECT_FALSE(event_mask(wrong)) << wrong;
}

}  // namespace
}  // namespace pbs::cmds
