// Tests job arrays: submits, shows, changes and ends them with the commands of users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Arrays : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set server job_history_enable=True"}));
    }
    std::string submit(const std::string& indices, const std::string& script,
                       std::vector<std::string> more = {}) {
        more.insert(more.end(), {"-J", indices});
        return server.submit(script, more);
    }
    std::string note(const std::string& line) const {
        return "echo " + line + " >> " + (server.work() / "notes").string() + "\n";
    }
    std::vector<std::string> notes() const {
        std::vector<std::string> lines;
        std::ifstream in(server.work() / "notes");
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        std::sort(lines.begin(), lines.end());
        return lines;
    }
    // Returns the short identifier of a subjob: "12[3]" for the array "12[].server" and index 3.
    static std::string subjob(const std::string& id, const std::string& index) {
        return id.substr(0, id.find(']')) + index + "]";
    }
    Output command(const std::vector<std::string>& argv) const { return server.command_as(runner(), argv); }
};

TEST_F(Arrays, EverySubjobRunsWithItsIndex) {
    const std::string id = submit("1-9:2", note("$PBS_ARRAY_INDEX $PBS_ARRAY_ID $PBS_JOBID"),
                                  {"-N", "run", "-o", (server.work() / "out^array_index^").string()});
    ASSERT_THAT(id, ContainsRegex("^[0-9]+\\[\\]\\."));
    ASSERT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(30)));
    std::vector<std::string> expected;
    for (const char* index : {"1", "3", "5", "7", "9"})
        expected.push_back(std::string(index) + " " + id + " " + subjob(id, index) +
                           id.substr(id.find(']') + 1));
    EXPECT_EQ(notes(), expected);
    EXPECT_EQ(server.job(id, "Exit_status"), "0");
    // OpenPBS's server doesn't count subjobs that have ended.
    EXPECT_EQ(server.job(id, "array_state_count"),
              of_host("Queued:0 Running:0 Exiting:0 Expired:5", "Queued:0 Running:0 Exiting:0 Expired:0"));
    EXPECT_TRUE(std::filesystem::exists(server.work() / "out7"));
    EXPECT_THAT(server.accounting(), ContainsRegex(";S;[0-9]+\\[\\]\\.[^\n]* array_indices=1-9:2 "));
    const Output all = command({"qstat", "-x", "-t", id});
    EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 2 + 6) << all;
}

TEST_F(Arrays, AreShownWithTheirSubjobs) {
    const std::string id = submit("1-20%2", "sleep 60\n");
    ASSERT_TRUE(server.wait_job_state(id, "B"));
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "3-20"; }));
    // On OpenPBS, don't check the array's comment: the server writes it, and pbs_sched writes none.
    if (!on_openpbs()) EXPECT_THAT(server.job(id, "comment"), HasSubstr("concurrent running subjobs limit"));
    EXPECT_THAT(command({"pbs_explain", id}).out, HasSubstr("no more of its subjobs may start now"));
    const auto lines = [&](const std::vector<std::string>& argv) {
        const std::string out = command(argv).out;
        return std::count(out.begin(), out.end(), '\n');
    };
    EXPECT_EQ(lines({"qstat"}), 3);
    EXPECT_EQ(lines({"qstat", "-t"}), 23);
    EXPECT_EQ(lines({"qstat", "-J"}), 3);
    EXPECT_EQ(lines({"qstat", subjob(id, "2-6:2")}), 5);
    EXPECT_EQ(lines({"qselect", "-J"}), 1);
    EXPECT_EQ(lines({"qselect", "-T", "-s", "R"}), 2);
    EXPECT_EQ(lines({"qselect", "-T"}), 20);
    EXPECT_THAT(command({"qstat", "-f", subjob(id, "7")}).out,
                testing::AllOf(HasSubstr("job_state = Q"), Not(HasSubstr("array_indices"))));
    EXPECT_THAT(command({"qstat", "-f", "-F", "json", subjob(id, "1")}).out, HasSubstr("\"array_index\": 1"));
    const Output none = command({"qstat", subjob(id, "21")});
    EXPECT_EQ(none.exit, 153) << none;
    EXPECT_THAT(none.err, HasSubstr("Unknown Job Id"));
    const Output why = command({"pbs_explain", subjob(id, "9")});
    EXPECT_THAT(why.out, HasSubstr(id)) << why;
}

TEST_F(Arrays, SurviveAServerThatIsKilled) {
    const std::string id = submit("1-6%2", "sleep 2\n" + note("$PBS_ARRAY_INDEX"));
    const std::string after = server.submit(note("after"), {"-W", "depend=afterok:" + id});
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "3-6"; }));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(id, "job_state"), "B");
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "5-6"; }));
    server.kill9();
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.wait_job_state(after, "F", std::chrono::seconds(30)));
    EXPECT_THAT(notes(), ElementsAre("1", "2", "3", "4", "5", "6", "after")) << "each once";
}

TEST_F(Arrays, AreDeletedInPart) {
    const std::string id = submit("1-20%2", "sleep 60\n");
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "3-20"; }));
    EXPECT_EQ(command({"qdel", subjob(id, "2-9")}).exit, 0);
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "11-20"; }));
    EXPECT_EQ(server.job(subjob(id, "2"), "job_state"), "X");
    EXPECT_EQ(command({"qdel", subjob(id, "3")}).exit, 55) << command({"qdel", subjob(id, "3")});
    EXPECT_EQ(command({"qhold", subjob(id, "12")}).exit, 156);
    EXPECT_EQ(command({"qdel", id}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(notes(), testing::IsEmpty());
}

// Jobs that come after an array in the order wait until each of its subjobs that may run has started.
TEST(ArraysInOrder, SubjobsGoBeforeTheJobsBehindTheirArray) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create queue work queue_type=execution, enabled=True, started=True",
                                  "set server default_queue=work, scheduling=False",
                                  "create node n1 resources_available.ncpus=4"}));
    const auto job = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"-l", "ncpus=1"});
        return server.submit("sleep 300\n", options);
    };
    const std::string limited = job({"-J", "1-9%1"});
    const std::string array = job({"-J", "1-3"});
    const std::string behind = job({});
    ASSERT_TRUE(server.configure({"set server scheduling=True"}));
    ASSERT_TRUE(wait_for([&] { return server.job(array, "array_indices_remaining") == "-"; }));
    EXPECT_EQ(server.job(limited, "array_indices_remaining"), "2-9");
    ASSERT_TRUE(wait_for([&] { return server.job(behind, "comment").find("Not Running") == 0; }));
    EXPECT_EQ(server.job(behind, "job_state"), "Q");
}

TEST_F(Arrays, BlockEndsWithTheArray) {
    RunOptions run;
    run.input = "exit $((PBS_ARRAY_INDEX == 2))\n";
    run.folder = server.work();
    const Output waited =
        server.command_as(runner(), {"qsub", "-S", "/bin/sh", "-J", "1-3", "-W", "block=true"}, run);
    EXPECT_EQ(waited.exit, 1) << waited;
}

TEST_F(Arrays, NoSubjobStartsWhileTheLimitOfItsArrayIsZero) {
    const std::string id = submit("1-2%0", note("$PBS_ARRAY_INDEX"));
    ASSERT_TRUE(server.wait_job_state(server.submit("true\n"), "F"));
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    if (!on_openpbs())
        EXPECT_THAT(server.job(id, "comment"), HasSubstr("concurrent running subjobs limit reached"));
    ASSERT_EQ(command({"qalter", "-W", "max_run_subjobs=1", id}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(30)));
    EXPECT_THAT(notes(), ElementsAre("1", "2"));
}

TEST_F(Arrays, WrongOnesAreRefused) {
    const auto refused = [&](std::vector<std::string> options) {
        options.insert(options.begin(), "qsub");
        options.insert(options.end(), {"--", "/bin/true"});
        return command(options);
    };
    for (const char* range : {"1", "3-1", "1-5:0", "a-b", "1-5,7"}) {
        const Output output = refused({"-J", range});
        EXPECT_EQ(output.exit, 2) << range << output;
        EXPECT_THAT(output.err, HasSubstr("X-Y")) << range;
    }
    EXPECT_EQ(refused({"-J", "1-20000"}).exit, 3) << "15107";
    EXPECT_THAT(refused({"-J", "1-20000"}).err, HasSubstr("Array job exceeds server or queue size limit"));
    EXPECT_EQ(refused({"-J", "1-5", "-r", "n"}).exit, 2);
    EXPECT_EQ(refused({"-W", "max_run_subjobs=3"}).exit, 127) << "15231";
    EXPECT_EQ(refused({"-J", "1-5%3", "-W", "max_run_subjobs=3"}).exit, 2);
    for (const char* most : {"1-5%-1", "1-5%", "1-5%x"}) {
        const Output output = refused({"-J", most});
        EXPECT_EQ(output.exit, 2) << most << output;
        EXPECT_THAT(output.err, HasSubstr("how many subjobs may run at once")) << most;
    }
    EXPECT_EQ(refused({"-m", "abj"}).exit, 1);
}

}  // namespace
}  // namespace pbs::e2e
