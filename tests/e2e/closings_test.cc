// Tests the attribute at_close of time_windows: what happens to running jobs when the open time of their
// queue ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Returns a time of day in UTC by the server's clock: `seconds` after the start of the test.
std::string in(std::time_t seconds) {
    const std::time_t at = ((on_openpbs() ? std::time(nullptr) : kMonday10) + seconds) % 86400;
    return fmt::format("{:02}:{:02}:{:02}", at / 3600, at / 60 % 60, at % 60);
}

// The queue `nights` is open for the first seconds of the test, closed for some seconds, and then open again.
class Closings : public ::testing::Test {
  protected:
    void start(const std::string& at_close) {
        ASSERT_TRUE(server.start());
        // On a busy machine OpenPBS's requests before the job take a while, and so does a job's requeue.
        const int closes = on_openpbs() ? 25 : 12;
        const int opens = closes + (on_openpbs() ? 30 : 15);
        ASSERT_TRUE(server.configure({
            "create queue nights queue_type=execution, enabled=True, started=True",
            "set server default_queue=nights",
            "create node n1 resources_available.ncpus=4",
            fmt::format("create time_window first rrule=FREQ=DAILY, start_time={}, end_time={}", in(-3600),
                        in(closes)),
            fmt::format("create time_window second rrule=FREQ=DAILY, start_time={}, end_time={}", in(opens),
                        in(3600)),
            fmt::format("set time_window first at_close={}", at_close),
            R"(set queue nights time_window="first,second")",
        }));
    }
    std::string job(const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments{"-l", "select=1:ncpus=2", "-l", "walltime=1:00:00"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return server.submit("sleep 300\n", arguments);
    }
    Server server;
};

TEST_F(Closings, SuspendedJobsGoOnWhenAWindowOpens) {
    start("suspend");
    const std::string first = job();
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    ASSERT_TRUE(server.wait_job_state(first, "S")) << server.job(first, "comment");
    EXPECT_TRUE(wait_for([&] {
        return server.job(first, "comment").starts_with("Suspended until time_window second opens, ");
    })) << server.job(first, "comment");
    const std::string later = server.submit("sleep 300\n", {"-l", "select=1:ncpus=3"});
    EXPECT_THAT(server.command({"pbs_explain", first}).out, HasSubstr("time_window"));
    ASSERT_TRUE(server.wait_job_state(first, "R")) << server.job(first, "comment");
    EXPECT_EQ(server.job(first, "run_count"), "1");
    if (!on_openpbs())
        EXPECT_THAT(server.job(first, "comment"),
                    HasSubstr("Job resumed as its queue's time_window has opened on (n1:"));
    EXPECT_EQ(server.job(later, "job_state"), "Q") << "it waits for CPUs";
}

TEST_F(Closings, OrAreQueuedAgainIfTheyAreRerunnable) {
    start("requeue");
    const std::string first = job();
    const std::string stays = job({"-r", "n"});
    ASSERT_TRUE(server.wait_job_state(stays, "R"));
    ASSERT_TRUE(server.wait_job_state(first, "Q")) << server.job(first, "comment");
    EXPECT_THAT(server.job(first, "comment"),
                AnyOf("Queued again: time_window first has closed",
                      HasSubstr("Queue nights is outside its time windows until ")));
    EXPECT_EQ(server.job(stays, "job_state"), "R");
    ASSERT_TRUE(server.wait_job_state(first, "R")) << server.job(first, "comment");
    EXPECT_EQ(server.job(first, "run_count"), "2");
    EXPECT_EQ(server.job(stays, "run_count"), "1");
}

TEST_F(Closings, AServerThatIsKilledMeanwhileKnowsThem) {
    start("suspend");
    const std::string first = job();
    ASSERT_TRUE(server.wait_job_state(first, "S")) << server.job(first, "comment");
    server.kill9();
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.wait_job_state(first, "R")) << server.job(first, "comment");
    EXPECT_EQ(server.job(first, "run_count"), "1");
}

TEST_F(Closings, AValueThatIsNoneOfTheWordsIsRefused) {
    ASSERT_TRUE(server.start());
    const Output refused = server.qmgr("create time_window first rrule=FREQ=DAILY, at_close=kill");
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("at_close"));
    EXPECT_THAT(refused.err, HasSubstr("run, suspend"));
    EXPECT_EQ(server.qmgr("create time_window nights rrule=FREQ=DAILY, at_close=suspend").err, "");
    ASSERT_TRUE(server.configure({"create time_window prime rrule=FREQ=DAILY, type=prime"}));
    EXPECT_THAT(server.qmgr("set time_window prime at_close=suspend").err,
                HasSubstr("has no effect without"));
}

}  // namespace
}  // namespace pbs::e2e
