#include "server_plugin/host/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

class LogTest : public testing::Test {
  protected:
    void SetUp() override {
        directory_ = testing::TempDir() + "log." + std::to_string(::getpid());
        fs::create_directory(directory_);
    }
    void TearDown() override { fs::remove_all(directory_); }
    std::vector<std::string> lines(Clock& clock) const {
        std::ifstream file(directory_ + "/" + std::to_string(local_time(clock.now()).day));
        std::vector<std::string> result;
        for (std::string line; std::getline(file, line);) result.push_back(line);
        return result;
    }
    std::string directory_;
};

TEST_F(LogTest, WritesLinesInPbsFormat) {
    Clock clock;
    Log log(directory_, "Server@host1", clock);
    log.write(LogEvent::system, LogClass::server, "Log", "Log opened");
    log.job("12.host1", "Job Run");
    log.error("policy p1", "two\nlines\tand\x01 more\n");
    const auto written = lines(clock);
    ASSERT_EQ(written.size(), 3U);
    const std::string stamp = "[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6};";
    EXPECT_THAT(written[0], MatchesRegex(stamp + "0002;Server@host1;Svr;Log;Log opened"));
    EXPECT_THAT(written[1], MatchesRegex(stamp + "0008;Server@host1;Job;12.host1;Job Run"));
    EXPECT_THAT(written[2], MatchesRegex(stamp + "0001;Server@host1;Svr;policy p1;two lines and  more"));
}

TEST_F(LogTest, LinesThatArePutTogetherAreWrittenAtTheEnd) {
    Clock clock;
    Log log(directory_, "Server@host1", clock);
    {
        const Log::Together together(log);
        log.job("1.host1", "first");
        log.job("2.host1", "second");
        EXPECT_TRUE(lines(clock).empty());
        log.job("3.host1", std::string(100'000, 'x'));
        EXPECT_EQ(lines(clock).size(), 2U) << "no more is kept than one write takes";
    }
    log.job("4.host1", "last");
    const auto written = lines(clock);
    ASSERT_EQ(written.size(), 4U);
    EXPECT_THAT(written[0], HasSubstr("1.host1;first"));
    EXPECT_THAT(written[1], HasSubstr("2.host1;second"));
    EXPECT_THAT(written[2], HasSubstr("3.host1;xxx"));
    EXPECT_THAT(written[3], HasSubstr("4.host1;last"));
}

TEST_F(LogTest, LeavesOutEventsThatAreNotAskedFor) {
    Clock clock;
    Log log(directory_, "Server@host1", clock);
    log.set_events(static_cast<unsigned>(LogEvent::error));
    log.job("12.host1", "not this");
    log.error("x", "this");
    const auto written = lines(clock);
    ASSERT_EQ(written.size(), 1U);
    EXPECT_THAT(written[0], HasSubstr("this"));
}

TEST_F(LogTest, ChangesTheFileWithTheServersDay) {
    const std::string offset = directory_ + "/offset";
    std::ofstream(offset) << "0";
    Clock clock;
    ASSERT_TRUE(clock.follow(offset));
    Log log(directory_, "Server@host1", clock);
    log.job("1", "first day");
    EXPECT_EQ(lines(clock).size(), 1U);
    std::ofstream(offset) << "-172800";
    ::usleep(25'000);
    log.job("1", "two days before");
    EXPECT_THAT(lines(clock), testing::ElementsAre(HasSubstr("two days before")));
}

TEST_F(LogTest, OpensItsFileAgainWhenItWasRemoved) {
    Clock clock;
    Log log(directory_, "Server@host1", clock);
    log.job("1", "before");
    for (const auto& entry : fs::directory_iterator(directory_)) fs::remove(entry);
    log.job("1", "after");
    EXPECT_THAT(lines(clock), testing::ElementsAre(HasSubstr("after")));
}

TEST_F(LogTest, ALineAfterHalfOneIsOnItsOwn) {
    Clock clock;
    std::ofstream(directory_ + "/" + std::to_string(local_time(clock.now()).day)) << "11/23/2026 10:0";
    Log log(directory_, "Server@host1", clock);
    log.job("12.host1", "Job Run");
    const auto written = lines(clock);
    ASSERT_EQ(written.size(), 2U);
    EXPECT_THAT(written[1], testing::EndsWith(";12.host1;Job Run"));
}

TEST_F(LogTest, CountsLinesThatCannotBeWrittenAndSaysSoLater) {
    Clock clock;
    Log log(directory_ + "/later", "Server@host1", clock);
    log.job("1", "lost");
    log.job("1", "lost");
    EXPECT_EQ(log.lost(), 2U);
    fs::create_directory(directory_ + "/later");
    log.job("1", "written");
    directory_ += "/later";
    EXPECT_THAT(lines(clock), testing::ElementsAre(HasSubstr("2 lines could not be written before this one"),
                                                   HasSubstr("written")));
    EXPECT_EQ(log.lost(), 2U);
    directory_ = fs::path(directory_).parent_path();
}

}  // namespace
}  // namespace pbs::host
