// Tests the errors that read_record() gives for texts that aren't a valid record of a scheduling cycle.
#include "server_plugin/record/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::record {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Ignore : RecordSink {
    Result<void> begin(const std::string&) override { return {}; }
    Result<void> state(const sched::StateRecord&) override { return {}; }
};

const std::string kHead = "{\"pbspolicy_record\":1,\"time_zone\":\"UTC\"}\n";
const std::string kTail =
    "{\"cycle\":{\"now\":1,\"sched\":\"default\",\"trigger\":\"timer\"}}\n{\"end\":{}}\n";

std::string refusal(const std::string& text) {
    Ignore sink;
    const auto read = read_record(text, "f", sink);
    return read ? "" : read.error().message;
}

TEST(RecordFile, TheLeastRecord) {
    EXPECT_EQ(refusal(kHead + kTail), "");
}

TEST(RecordFile, NoRecordAtAll) {
    const std::string expected =
        "f:1: expected {\"pbspolicy_record\":1,\"time_zone\":...}, the first line of a record";
    EXPECT_EQ(refusal(""), expected);
    EXPECT_EQ(refusal("hello\n"), expected);
    EXPECT_EQ(refusal("[]\n"), expected);
    EXPECT_EQ(refusal("{\"pbspolicy_record\":1}\n"), expected);
}

TEST(RecordFile, AnotherVersion) {
    EXPECT_EQ(refusal("{\"pbspolicy_record\":2,\"time_zone\":\"UTC\"}\n"),
              "f:1: format 2, expected 1: is the record of another version?");
}

TEST(RecordFile, CutOff) {
    EXPECT_EQ(refusal(kHead), "f:2: the record ends here, expected it to end with {\"end\":{...}}");
    EXPECT_THAT(refusal(kHead + "{\"job\":{\"handle\":1"),
                StartsWith("f:2: no JSON at column 19, expected one object"));
}

TEST(RecordFile, ANumberBeyondAll) {
    EXPECT_EQ(refusal(kHead + "{\"job\":{\"handle\":1e999}}\n"),
              "f:2: a number is too large, expected one that a floating-point number can be");
    EXPECT_THAT(refusal("{\"pbspolicy_record\":1e999}\n"), StartsWith("f:1: "));
}

TEST(RecordFile, LinesOutOfOrder) {
    EXPECT_EQ(refusal(kHead + "{\"job\":{}}\n{\"queue\":{}}\n"),
              "f:3: queue isn't expected here, in the order of a record's lines");
    EXPECT_EQ(refusal(kHead + "{\"run\":{}}\n"), "f:2: run before a line with the key cycle");
    EXPECT_EQ(refusal(kHead + kTail + "{\"end\":{}}\n"),
              "f:4: end isn't expected here, in the order of a record's lines");
}

TEST(RecordFile, UnknownKeys) {
    EXPECT_THAT(refusal(kHead + "{\"color\":{}}\n"), StartsWith("f:2: unknown key color, expected resource"));
    EXPECT_THAT(refusal(kHead + "{\"job\":{\"color\":1}}\n"),
                StartsWith("f:2: job: color: expected no such key"));
}

TEST(RecordFile, ValuesOfAWrongKind) {
    const auto job = [](const std::string& inner) {
        return refusal(kHead + "{\"job\":{" + inner + "}}\n" + kTail);
    };
    EXPECT_EQ(job("\"id\":3"), "f:2: job: id: expected a string");
    EXPECT_EQ(job("\"priority\":3000000000"),
              "f:2: job: priority: expected a whole number from -2147483648 to 2147483647");
    EXPECT_EQ(job("\"handle\":-1"),
              "f:2: job: handle: expected a whole number from 0 to 18446744073709551615");
    EXPECT_EQ(job("\"state\":\"QQ\""), "f:2: job: state: expected a letter as in job_state, such as \"Q\"");
    EXPECT_EQ(job("\"fresh\":1"), "f:2: job: fresh: expected true or false");
    EXPECT_EQ(job("\"stime\":99999999999999999"),
              "f:2: job: stime: expected an instant in seconds since 1970-01-01 UTC");
    EXPECT_EQ(job("\"requested\":[[\"ncpus\",1]]"),
              "f:2: job: requested: expected a resource that a line before defines, found ncpus");
    EXPECT_EQ(job("\"places\":[1]"), "f:2: job: places: expected an object {...}");
    EXPECT_EQ(
        refusal(kHead + "{\"resource\":{\"id\":0,\"name\":\"x\",\"kind\":\"blob\"}}\n"),
        "f:2: resource: kind: expected one of integer, real, size, duration, boolean, string, string_array");
    EXPECT_EQ(refusal(kHead + "{\"resource\":{\"id\":4000000000,\"name\":\"x\"}}\n"),
              "f:2: resource: id: expected a number below 1000000");
}

TEST(RecordFile, UsageOfSharesComesBehindTheConfiguration) {
    const std::string shares =
        "{\"fair_share\":{\"scope\":\"fs_group:f1\",\"entities\":[{\"user\":\"ann\",\"usage\":7.5}],"
        "\"charges\":[{\"job\":\"1.s\",\"charge\":2}]}}\n";
    EXPECT_EQ(refusal(kHead + shares + "{\"tick\":{}}\n" + kTail), "");
    EXPECT_EQ(refusal(kHead + "{\"tick\":{}}\n" + shares + kTail),
              "f:3: fair_share isn't expected here, in the order of a record's lines");
    EXPECT_EQ(
        refusal(kHead + "{\"fair_share\":{\"entities\":[{\"user\":\"ann\",\"usage\":\"much\"}]}}\n" + kTail),
        "f:2: fair_share: entities: usage: expected a number");
}

TEST(RecordFile, ObjectsOfTheConfiguration) {
    EXPECT_EQ(refusal(kHead + "{\"object\":{\"type\":\"job\",\"name\":\"1\",\"attributes\":{}}}\n"),
              "f:2: object: type: expected server, queue, sched, policy, time_window, fs_group or quota");
    EXPECT_THAT(
        refusal(kHead +
                "{\"object\":{\"type\":\"policy\",\"name\":\"p\",\"attributes\":{\"by_queue\":\"7\"}}}\n" +
                kTail),
        HasSubstr("by_queue"));
}

}  // namespace
}  // namespace pbs::record
