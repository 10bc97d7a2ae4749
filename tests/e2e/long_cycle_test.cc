// With so many jobs that cycles run beside the server's other work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;

// 21,000 jobs, of which two run at a time.
class LongCycle : public ::testing::Test {
  protected:
    static constexpr int kSubmitted = 30;
    static constexpr int kJobs = 21'000;

    void SetUp() override {
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
    // As qselect counts them.
    std::size_t count(const std::string& state) const {
        const std::string out = server.command({"qselect", "-s", state}).out;
        return static_cast<std::size_t>(std::ranges::count(out, '\n'));
    }
    bool cycle_is_over() const {
        return server.log().find(" decisions", server.log().find("scheduling = True")) != std::string::npos;
    }

    Server server;
};

TEST_F(LongCycle, RequestsAreAnsweredWhileItsDecisionsAreCarriedOut) {
    ASSERT_EQ(server.qmgr("set server scheduling=True").exit, 0);
    int answered = 0;
    while (!cycle_is_over() && answered < 1000) {
        ASSERT_EQ(server.qmgr("set policy default_policy comment=c" + std::to_string(answered)).exit, 0);
        ++answered;
    }
    EXPECT_GT(answered, 3) << "21,000 comments take the server most of a second";
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

}  // namespace
}  // namespace pbs::e2e
