// Tests algorithm = external: jobs are scheduled by the program docs/fifo_scheduler.cc, which uses the C
// interface.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/e2e/harness.h"
#include "tests/e2e/process.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class External : public OfOwnServer<> {
  protected:
    void SetUp() override {
        OfOwnServer::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({"create queue work queue_type=execution, enabled=True, started=True",
                                      "set server default_queue=work, job_history_enable=True",
                                      "create node n1 resources_available.ncpus=16",
                                      "create node n2 resources_available.ncpus=16",
                                      "set policy default_policy algorithm=external"}));
    }
    void TearDown() override {
        for (const pid_t pid : programs_) end(pid);
    }

    // Starts fifo_scheduler, which ends after `patience` seconds without changes. Its output goes to the file
    // fifo<number>.
    pid_t start_program(int number, const std::string& patience = {}) {
        const std::string path = (server.work() / fmt::format("fifo{}", number)).string();
        const int out = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        std::vector<std::string> argv{program("fifo_scheduler").string()};
        if (!patience.empty()) argv.push_back(patience);
        programs_.push_back(spawn(argv, {{"PBS_HOME", server.home().string()}}, in, out));
        ::close(out);
        ::close(in);
        return programs_.back();
    }
    std::string output(int number) const {
        return pbs::test::file_text(server.work() / fmt::format("fifo{}", number));
    }
    void end(pid_t pid) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        std::erase(programs_, pid);
    }
    // Returns the numbers after the word "version" in the output of fifo_scheduler `number`.
    std::vector<long long> versions(int number) const {
        std::vector<long long> all;
        std::istringstream lines(output(number));
        for (std::string word; lines >> word;)
            if (word == "version" && lines >> word) all.push_back(std::stoll(word));
        return all;
    }
    bool registered() const {
        return server.attribute("sched default", "scheduled_by").find("nobody") == std::string::npos;
    }
    void submit_many(int count) {
        std::string script;
        for (int i = 0; i < count; ++i)
            script += fmt::format("echo true | {} -l ncpus={}\n", program("qsub").string(), 1 + i % 3);
        const Output done = server.command_as(runner(), {"sh", "-c", script},
                                              {.folder = server.work(), .timeout = std::chrono::seconds(50)});
        ASSERT_EQ(done.exit, 0) << done;
    }
    // Waits until `count` jobs have ended, and checks that each has started once.
    void expect_each_ran_once(int count) {
        EXPECT_TRUE(wait_for([&] { return starts_and_ends().second.size() == static_cast<size_t>(count); }));
        const auto [starts, ends] = starts_and_ends();
        EXPECT_EQ(ends.size(), static_cast<size_t>(count));
        EXPECT_EQ(starts.size(), static_cast<size_t>(count));
        for (const auto& [job, times] : starts) EXPECT_EQ(times, 1) << job;
        EXPECT_EQ(server.command({"qselect"}).out, "");
    }
    std::pair<std::map<std::string, int>, std::map<std::string, int>> starts_and_ends() const {
        std::map<std::string, int> starts;
        std::map<std::string, int> ends;
        std::istringstream lines(server.accounting());
        for (std::string line; std::getline(lines, line);) {
            const auto kind = line.find(';');
            if (kind == std::string::npos || line.size() < kind + 3) continue;
            const std::string job = line.substr(kind + 3, line.find(';', kind + 3) - kind - 3);
            if (line[kind + 1] == 'S') ++starts[job];
            if (line[kind + 1] == 'E') ++ends[job];
        }
        return {starts, ends};
    }

    Server server;
    std::vector<pid_t> programs_;
};

TEST_F(External, NobodySchedulesUntilAProgramDoes) {
    EXPECT_THAT(server.attribute("sched default", "scheduled_by"), HasSubstr("nobody since "));
    const std::string id = server.submit("true\n");
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    EXPECT_THAT(
        server.command({"pbs_explain", id}).out,
        HasSubstr("no cycle looks at it now: by policy default_policy, algorithm = external, a program "
                  "starts the jobs"));
    start_program(1);
    EXPECT_TRUE(server.wait_job_state(id, "F")) << output(1);
    EXPECT_THAT(server.attribute("sched default", "scheduled_by"), ContainsRegex("^[^ ]+@[^ ]+ since "))
        << output(1);
    // When the program has ended, no job starts until the policy has one of the plugin's own algorithms
    // again.
    end(programs_.front());
    EXPECT_TRUE(wait_for([&] { return !registered(); }));
    const std::string next = server.submit("true\n");
    EXPECT_EQ(server.job(next, "job_state"), "Q");
    ASSERT_TRUE(server.configure({"set policy default_policy algorithm=standard"}));
    EXPECT_TRUE(server.wait_job_state(next, "F"));
}

TEST_F(External, ASecondProgramIsRefused) {
    start_program(1);
    ASSERT_TRUE(wait_for([&] { return registered(); }));
    const Output second = server.command({"fifo_scheduler"});
    EXPECT_EQ(second.exit, 1);
    EXPECT_THAT(second.err, HasSubstr("fifo_scheduler: error 15230: "));
    EXPECT_THAT(second.err, HasSubstr(" has been registered as scheduler default since "));
    end(programs_.front());
    EXPECT_TRUE(wait_for([&] { return !registered(); })) << "the end of a program that waits is noticed";
}

// The server notices at once that the predecessor is gone.
TEST_F(External, AProgramSucceedsOneThatWasJustKilled) {
    pid_t pid = start_program(0);
    ASSERT_TRUE(wait_for([&] { return !versions(0).empty(); }));
    for (int life = 1; life <= 10; ++life) {
        end(pid);
        pid = start_program(life);
        ASSERT_TRUE(wait_for([&] { return !versions(life).empty(); })) << output(life);
        EXPECT_THAT(output(life), testing::Not(HasSubstr("still registered")));
    }
}

TEST_F(External, AProgramThatIsKilledAtAnyInstantStartsEachJobOnce) {
    constexpr int kJobs = 200;
    std::thread submits([&] { submit_many(kJobs); });
    for (int life = 1; life <= 6; ++life) {
        const pid_t pid = start_program(life);
        std::this_thread::sleep_for(std::chrono::milliseconds(130 * life));
        end(pid);
        ASSERT_TRUE(wait_for([&] { return !registered(); }));
    }
    submits.join();
    start_program(7);
    expect_each_ran_once(kJobs);
    long long last = 0;
    for (int life = 1; life <= 7; ++life)
        for (const long long version : versions(life)) {
            EXPECT_GE(version, last) << "program " << life;
            last = version;
        }
    EXPECT_GT(last, 0);
    const std::vector<long long> all = versions(7);
    EXPECT_EQ(std::ranges::adjacent_find(all, std::ranges::greater_equal()), all.end())
        << "strictly growing: " << output(7);
}

TEST_F(External, LimitsHoldForStartsThatAreChecked) {
    ASSERT_TRUE(server.configure({"set queue work max_run=[o:PBS_ALL=1]"}));
    const std::string first = server.submit("sleep 100\n");
    const std::string second = server.submit("true\n", {"-l", "ncpus=3"});
    const std::string large = server.submit("true\n", {"-l", "ncpus=17"});
    const Output asked = server.command({"pbs_explain", "--at", "(n1:ncpus=3)", second});
    EXPECT_EQ(asked.exit, 0) << asked;
    EXPECT_THAT(asked.out, HasSubstr("it may start at (n1:ncpus=3) in queue work")) << asked;
    start_program(1);
    EXPECT_TRUE(server.wait_job_state(first, "R"));
    EXPECT_TRUE(wait_for([&] {
        return output(1).find(second + ": error 15044: Queue work job limit has been reached.") !=
               std::string::npos;
    })) << output(1);
    EXPECT_EQ(server.job(second, "job_state"), "Q");
    const Output refused = server.command({"pbs_explain", "--json", "--at", "(n1:ncpus=17)", large});
    EXPECT_THAT(refused.out, HasSubstr("\"waits\"")) << refused;
    EXPECT_THAT(refused.out, HasSubstr("(R: 17 A: 15 T: 16 on vnode n1)")) << refused;
    EXPECT_THAT(refused.out, HasSubstr("Queue work job limit has been reached.")) << refused;
    EXPECT_EQ(server.command({"qdel", large}).exit, 0);
    EXPECT_EQ(server.command({"qdel", first}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(second, "F"));
    EXPECT_THAT(server.command({"pbs_explain", "--at", "nowhere", second}).err, HasSubstr("pbs_explain: "));
}

// A place with many chunks is longer than the extend string of a request may be.
TEST_F(External, PlacesAreAskedAboutHoweverLong) {
    const std::string wide = server.submit("true\n", {"-l", "select=9000:ncpus=0"});
    std::string place = "(n1:ncpus=0)";
    for (int i = 1; i < 9000; ++i) place += "+(n1:ncpus=0)";
    ASSERT_GT(place.size(), std::size_t{100} << 10);
    const Output asked = server.command({"pbs_explain", "--json", "--at", place, wide});
    EXPECT_EQ(asked.exit, 0) << asked.err;
    const auto answer = nlohmann::json::parse(asked.out);
    EXPECT_EQ(answer["outcome"], "starts");
    EXPECT_EQ(answer["location"], place);
    EXPECT_EQ(server.command({"qdel", wide}).exit, 0);
}

// The counter of a quota is in the answer, also in that about a start at a place.
TEST_F(External, QuotasAreExplainedWithTheirCounters) {
    ASSERT_TRUE(
        server.configure({"create quota cpus", "set quota cpus rule.each = \"users={*} to ncpus=4\"",
                          "set quota cpus enabled = True", "set policy default_policy quotas = cpus"}));
    const std::string first = server.submit("sleep 100\n", {"-l", "ncpus=3"});
    const std::string second = server.submit("true\n", {"-l", "ncpus=2"});
    start_program(1);
    ASSERT_TRUE(server.wait_job_state(first, "R")) << output(1);
    const auto counter = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"pbs_explain", "--json"});
        arguments.push_back(second);
        const auto answer = nlohmann::json::parse(server.command(arguments).out);
        for (const auto& gate : answer["queues"][0]["gates"])
            if (gate["gate"] == "quota") return gate.value("counter", nlohmann::json());
        return nlohmann::json();
    };
    const std::string owner = server.job(second, "Job_Owner");
    const nlohmann::json expected{
        {"quota", "cpus"},     {"rule", "each"}, {"of", {{"users", owner.substr(0, owner.find('@'))}}},
        {"resource", "ncpus"}, {"asked", "2"},   {"used", "3"},
        {"limit", "4"}};
    EXPECT_EQ(counter({"--at", "n1"}), expected);
    EXPECT_EQ(counter({"--at", ""}), expected);
    EXPECT_EQ(counter({}), expected);
    EXPECT_THAT(output(1), HasSubstr(second + ": error 15044: Quota cpus (each): ncpus (R: 2 U: 3 L: 4)"));
    EXPECT_EQ(server.command({"qdel", first}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(second, "F")) << "the program is told of the end: " << output(1);
}

TEST_F(External, JobsStartOnlyWhereAllThatTheyRequestIsFree) {
    ASSERT_TRUE(server.configure(
        {"set node n1 resources_available.mem=1gb", "set node n2 resources_available.mem=4gb"}));
    const std::string large = server.submit("true\n", {"-l", "select=1:ncpus=1:mem=64gb"});
    const std::string second = server.submit("sleep 100\n", {"-l", "select=1:ncpus=1:mem=2gb"});
    start_program(1);
    EXPECT_TRUE(server.wait_job_state(second, "R")) << output(1);
    EXPECT_EQ(server.job(second, "exec_vnode"), "(n2:ncpus=1:mem=2097152kb)");
    EXPECT_EQ(server.job(large, "job_state"), "Q");
    EXPECT_THAT(output(1), HasSubstr(large + ": error 15044: "));
    EXPECT_EQ(server.command({"qdel", large, second}).exit, 0);
}

TEST_F(External, AProgramGoesOnAfterTheServerWasStartedAnew) {
    const pid_t first = start_program(1);
    ASSERT_TRUE(wait_for([&] { return !versions(1).empty(); }));
    server.kill9();
    EXPECT_TRUE(wait_for([&] { return output(1).find("error 15031") != std::string::npos; }))
        << "it ends: " << output(1);
    end(first);
    ASSERT_TRUE(server.start());
    const std::string id = server.submit("true\n");
    start_program(2);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_GT(versions(2).front(), versions(1).back()) << "versions grow over the lives of the server";
}

TEST_F(External, OrdinaryUsersCanNeitherScheduleNorAskForChanges) {
    if (!other()) GTEST_SKIP() << "only root can become another user; this is user " << runner().name;
    const Output refused = server.command_as(*other(), {"fifo_scheduler"});
    EXPECT_EQ(refused.exit, 1);
    EXPECT_THAT(refused.err, HasSubstr("error 15007"));
    EXPECT_FALSE(registered());
}

}  // namespace
}  // namespace pbs::e2e
