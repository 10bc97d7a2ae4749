// Tests route queues whose destinations are full, closed, or refuse the job. The tests use the same commands
// with both hosts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;

// Every second, the route queue `in` tries to route its jobs to the queue `to`, which isn't started.
class RouteQueues : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(
            server.configure({"create queue to queue_type=e,enabled=t",
                              "create queue in queue_type=r,route_destinations=to,enabled=t,started=t,"
                              "route_retry_time=1",
                              "set server job_history_enable = True"}));
    }
    std::string submit(std::vector<std::string> options = {}, const std::string& queue = "in") const {
        options.insert(options.end(), {"-q", queue});
        return server.submit("sleep 100\n", options);
    }
    Output refused(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), "qsub");
        options.insert(options.end(), {"-q", "in", "--", "/bin/true"});
        return server.command_as(runner(), options);
    }
    bool comes_to(const std::string& id, const std::string& queue) const {
        return wait_for([&] { return server.job(id, "queue") == queue; });
    }
    int jobs_in(const std::string& queue) const {
        int count = 0;
        const std::string out = server.command({"qselect", "-q", queue}).out;
        for (const char c : out) count += c == '\n' ? 1 : 0;
        return count;
    }
    void remove(const std::string& id) const {
        ASSERT_EQ(server.command({"qdel", "-W", "force", id}).exit, 0);
    }
};

TEST_F(RouteQueues, KeepJobsWhileTheirDestinationIsFull) {
    const std::string user = runner().name;
    const std::vector<std::string> limits = {
        "max_queued=[u:PBS_GENERIC=2]",           "max_queued=[o:PBS_ALL=2]",
        "max_queued=[u:" + user + "=2]",          "max_queued=[g:PBS_GENERIC=2]",
        "max_queued=[p:PBS_GENERIC=2]",           "queued_jobs_threshold=[u:PBS_GENERIC=2]",
        "max_queued_res.ncpus=[u:PBS_GENERIC=2]", "queued_jobs_threshold_res.ncpus=[o:PBS_ALL=2]",
    };
    // Each limit has its own pair of queues and three jobs. The limit allows two of the jobs, and the third
    // waits.
    std::vector<std::array<std::string, 3>> jobs;
    for (size_t i = 0; i < limits.size(); ++i) {
        ASSERT_TRUE(server.configure(
            {fmt::format("create queue to{} queue_type=e,enabled=t,{}", i, limits[i]),
             fmt::format("create queue in{} queue_type=r,route_destinations=to{},enabled=t,started=t,"
                         "route_retry_time=1",
                         i, i)}));
        jobs.emplace_back();
        for (std::string& id : jobs.back()) id = submit({}, fmt::format("in{}", i));
    }
    const auto all_wait = [&] {
        for (size_t i = 0; i < limits.size(); ++i)
            if (server.job(jobs[i][2], "queue") != fmt::format("in{}", i)) return false;
        return true;
    };
    EXPECT_FALSE(wait_for([&] { return !all_wait(); }, std::chrono::milliseconds(2500)));
    for (size_t i = 0; i < limits.size(); ++i) {
        SCOPED_TRACE(limits[i]);
        EXPECT_EQ(server.job(jobs[i][0], "queue"), fmt::format("to{}", i));
        EXPECT_EQ(server.job(jobs[i][1], "queue"), fmt::format("to{}", i));
        EXPECT_EQ(server.job(jobs[i][2], "job_state"), "Q");
        remove(jobs[i][0]);
    }
    for (size_t i = 0; i < limits.size(); ++i) {
        SCOPED_TRACE(limits[i]);
        EXPECT_TRUE(comes_to(jobs[i][2], fmt::format("to{}", i)));
    }
}

TEST_F(RouteQueues, SendNoMoreInOnePassThanTheDestinationTakes) {
    for (const char* limit :
         {"max_queued=[u:PBS_GENERIC=2]", "max_queued_res.ncpus=[o:PBS_ALL=2]", "max_queuable=2"}) {
        SCOPED_TRACE(limit);
        const std::string name = std::string(limit).substr(0, std::string(limit).find('='));
        ASSERT_TRUE(server.configure({"set queue to enabled = False", std::string("set queue to ") + limit}));
        for (int i = 0; i < 6; ++i) ASSERT_NE(submit(), "");
        ASSERT_TRUE(server.configure({"set queue to enabled = True"}));
        EXPECT_TRUE(wait_for([&] { return jobs_in("to") == 2; }));
        EXPECT_FALSE(wait_for([&] { return jobs_in("to") != 2; }, std::chrono::milliseconds(2500)));
        EXPECT_EQ(jobs_in("in"), 4);
        std::string ids =
            server.command({"qselect", "-q", "to"}).out + server.command({"qselect", "-q", "in"}).out;
        for (size_t end = 0; (end = ids.find('\n')) != std::string::npos; ids.erase(0, end + 1))
            remove(ids.substr(0, end));
        ASSERT_TRUE(server.configure({"unset queue to " + name}));
    }
}

TEST_F(RouteQueues, KeepAnArrayThatIsWiderThanTheLimit) {
    ASSERT_TRUE(server.configure({"set queue to max_queued=[u:PBS_GENERIC=2]"}));
    const std::string array = submit({"-J", "1-3"});
    EXPECT_FALSE(
        wait_for([&] { return server.job(array, "queue") != "in"; }, std::chrono::milliseconds(2500)));
    EXPECT_EQ(server.job(array, "job_state"), "Q");
    ASSERT_TRUE(server.configure({"set queue to max_queued=[u:PBS_GENERIC=3]"}));
    EXPECT_TRUE(comes_to(array, "to"));
}

TEST_F(RouteQueues, RefuseJobsThatNoDestinationWillEverTake) {
    struct Row {
        const char* set;
        const char* unset;
        std::vector<std::string> job;
    };
    for (const Row& row : {
             Row{"resources_max.ncpus=1", "resources_max.ncpus", {"-l", "ncpus=2"}},
             Row{"resources_min.ncpus=3", "resources_min.ncpus", {"-l", "ncpus=2"}},
             Row{"max_array_size=2", "max_array_size", {"-J", "1-3"}},
             Row{"acl_user_enable=t,acl_users=nobody-else", "acl_users,acl_user_enable", {}},
             Row{"acl_host_enable=t,acl_hosts=elsewhere.org", "acl_hosts,acl_host_enable", {}},
             Row{"acl_group_enable=t,acl_groups=nobody-else", "acl_groups,acl_group_enable", {}},
         }) {
        SCOPED_TRACE(row.set);
        ASSERT_TRUE(server.configure({std::string("set queue to ") + row.set}));
        const Output output = refused(row.job);
        EXPECT_NE(output.exit, 0) << output;
        EXPECT_THAT(output.err, HasSubstr("Job rejected by all possible destinations"));
        EXPECT_EQ(jobs_in("in"), 0);
        // The server deletes a job that waits in the route queue if all destinations refuse it.
        ASSERT_TRUE(server.configure({"set queue in started = False"}));
        const std::string waits = submit(row.job);
        ASSERT_TRUE(server.configure({"set queue in started = True"}));
        EXPECT_TRUE(server.wait_job_state(waits, "F"));
        ASSERT_TRUE(server.configure({std::string("unset queue to ") + row.unset}));
    }
}

TEST_F(RouteQueues, KeepHeldAndWaitingJobsUntilTheyMayGo) {
    const std::string held = submit({"-h"});
    const std::string waits = submit({"-a", "203001010000"});
    EXPECT_FALSE(
        wait_for([&] { return server.job(held, "queue") != "in" || server.job(waits, "queue") != "in"; },
                 std::chrono::milliseconds(2500)));
    ASSERT_EQ(server.command_as(runner(), {"qrls", held}).exit, 0);
    EXPECT_TRUE(comes_to(held, "to"));
    EXPECT_EQ(server.job(waits, "queue"), "in");
    ASSERT_TRUE(server.configure({"set queue in route_waiting_jobs = True"}));
    EXPECT_TRUE(comes_to(waits, "to"));
    ASSERT_TRUE(server.configure({"set queue in route_held_jobs = True"}));
    EXPECT_TRUE(comes_to(submit({"-h"}), "to"));
}

TEST_F(RouteQueues, DeleteJobsThatHaveStayedTooLong) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({"set queue to enabled = False", "set queue in route_lifetime = 100"}));
    const std::string id = submit();
    EXPECT_EQ(server.job(id, "queue"), "in");
    server.set_clock(kMonday10 + 1000);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(server.accounting(), HasSubstr(";A;" + id + ";Route queue lifetime exceeded"));
}

}  // namespace
}  // namespace pbs::e2e
