// Tests cycles over so many jobs that they run in a thread while the server serves clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;

// A server with 21,000 jobs, of which two can run at a time.
class LongCycle : public ::testing::Test {
  protected:
    static constexpr int kSubmitted = 30;
    static constexpr int kJobs = 21'000;

    void SetUp() override {
        NEEDS(own_server);
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "set server scheduling=False",
            "set server log_events=511",
            "create queue submit queue_type=execution,enabled=True,started=True",
            "create queue batch queue_type=execution,enabled=True,started=True,max_running=2",
            "create node n1 resources_available.ncpus=8",
            "set policy default_policy algorithm=origin,submit_queue=submit,batch_queues=batch",
            "set policy default_policy avoid_fragmentation=False",
        }));
        for (int i = 0; i < kSubmitted; ++i)
            ASSERT_NE(server.submit("sleep 1000",
                                    {"-q", "submit", "-l", "walltime=1:00:0" + std::to_string(i % 10)}),
                      "");
        ASSERT_TRUE(server.stop());
        ASSERT_TRUE(copy_jobs(server, kJobs / kSubmitted));
        ASSERT_TRUE(server.start());
    }
    // Returns the number of jobs in a state, by qselect.
    std::size_t count(const std::string& state) const {
        const std::string out = server.command({"qselect", "-s", state}).out;
        return static_cast<std::size_t>(std::ranges::count(out, '\n'));
    }
    std::size_t cycles() const {
        const std::string log = server.log();
        std::size_t count = 0;
        for (auto at = log.find(" decisions"); at != std::string::npos; at = log.find(" decisions", at + 1))
            ++count;
        return count;
    }
    // Starts `users` threads. Each asks for records of cycles again and again until `enough` is true.
    std::vector<std::thread> ask_for_records(int users, const std::atomic<bool>& enough) {
        std::vector<std::thread> all;
        all.reserve(static_cast<size_t>(users));
        for (int i = 0; i < users; ++i)
            all.emplace_back([this, &enough] {
                while (!enough) {
                    const Output recorded = server.command({"pbs_replay", "--record", "-o", "/dev/null"});
                    EXPECT_EQ(recorded.exit, 0) << recorded.err;
                    ++records;
                }
            });
        return all;
    }
    bool cycle_is_over() const {
        return server.log().find(" decisions", server.log().find("scheduling = True")) != std::string::npos;
    }

    Server server;
    std::atomic<int> records = 0;
};

TEST_F(LongCycle, RequestsAreAnsweredWhileItsDecisionsAreCarriedOut) {
    ASSERT_EQ(server.qmgr("set server scheduling=True").exit, 0);
    int answered = 0;
    while (!cycle_is_over() && answered < 1000) {
        ASSERT_EQ(server.qmgr("set policy default_policy comment=c" + std::to_string(answered)).exit, 0);
        ++answered;
    }
    EXPECT_GT(answered, 1) << "21,000 comments take the server longer than two requests";
    EXPECT_TRUE(wait_for([&] { return count("R") == 2; }));
    EXPECT_EQ(count("Q"), kJobs - 2u);
    EXPECT_THAT(server.job(std::to_string(kJobs - 1), "comment"),
                HasSubstr("Not Running: Queue batch job limit has been reached."));
}

TEST_F(LongCycle, AServerThatIsStoppedOrKilledInBetweenGoesOnAtItsNextStart) {
    ASSERT_EQ(server.qmgr("set server scheduling=True").exit, 0);
    EXPECT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(wait_for([&] { return cycle_is_over(); }, std::chrono::seconds(60)));
    EXPECT_TRUE(wait_for([&] { return count("R") == 2; }));
    EXPECT_EQ(count("Q"), kJobs - 2u);
}

// Explanations and records of all jobs take as long as a cycle. While they are made, the server serves
// clients, and cycles run.
TEST_F(LongCycle, OthersAreAnsweredAndCyclesRunBesideRecordsAndExplanations) {
    ASSERT_EQ(server.qmgr("set server scheduling=True").exit, 0);
    ASSERT_TRUE(wait_for([&] { return cycle_is_over() && count("R") == 2; }, std::chrono::seconds(60)));
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    ASSERT_EQ(server.command({"pbs_replay", "--record", "-o", "/dev/null"}).exit, 0);
    const auto one_record = Clock::now() - begin;

    std::atomic<bool> enough = false;
    std::vector<std::thread> others = ask_for_records(3, enough);
    const std::size_t before = cycles();
    auto longest = Clock::duration::zero();
    // Each change causes a cycle.
    for (int i = 0; i < 10 || (records < 6 && i < 1000); ++i) {
        const auto asked = Clock::now();
        EXPECT_EQ(server.qmgr("set policy default_policy comment=c" + std::to_string(i)).exit, 0);
        longest = std::max(longest, Clock::now() - asked);
    }
    const Output explained = server.command({"pbs_explain", std::to_string(kJobs - 1)});
    EXPECT_EQ(explained.exit, 0) << explained.err;
    EXPECT_THAT(explained.out, HasSubstr("Queue batch job limit has been reached."));
    EXPECT_TRUE(wait_for([&] { return cycles() > before + 1; }, std::chrono::seconds(30)))
        << "a cycle takes its turn";
    enough = true;
    for (std::thread& other : others) other.join();
    EXPECT_LT(longest, one_record) << "else it would have waited for three";
}

TEST_F(LongCycle, WhoLeavesWhileItIsMadeKeepsNobodyWaiting) {
    ASSERT_EQ(server.qmgr("set server scheduling=True").exit, 0);
    ASSERT_TRUE(wait_for([&] { return cycle_is_over() && count("R") == 2; }, std::chrono::seconds(60)));
    for (int i = 0; i < 12; ++i) {
        const std::string after = "0.0" + std::to_string(2 + i % 5);
        const std::vector<std::string> what =
            i % 2 == 0 ? std::vector<std::string>{program("pbs_replay"), "--record"}
                       : std::vector<std::string>{program("pbs_explain"), "7"};
        std::vector<std::string> argv{"timeout", "-s", "KILL", after};
        argv.insert(argv.end(), what.begin(), what.end());
        (void)server.command(argv);
    }
    const std::size_t before = cycles();
    ASSERT_EQ(server.qmgr("set policy default_policy comment=x").exit, 0);
    EXPECT_TRUE(wait_for([&] { return cycles() > before; }));
    EXPECT_EQ(server.command({"pbs_explain", "7"}).exit, 0);
    EXPECT_THAT(server.command({"pbs_replay", "--record"}).out, HasSubstr("{\"end\":{"));
}

}  // namespace
}  // namespace pbs::e2e
