// Tests requests of jobs that only the scheduler interprets: ranges of chunks, and a time within which a job
// has to start. Also policy settings for arrays, and for resources that are reserved for jobs which request
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <thread>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

class JobRequests : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "set server default_queue=work, job_history_enable=True",
            "create node n1 resources_available.ncpus=4",
            "create resource select_range type=string",
            "create resource start_within type=long",
        }));
    }
    Server server;
};

TEST_F(JobRequests, GetTheMostChunksThatFit) {
    const std::string first = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1"});
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    const std::string ranged = server.submit("wc -l <$PBS_NODEFILE; sleep 60\n",
                                             {"-l", "select=2:ncpus=1", "-l", "select_range=2-8"});
    ASSERT_TRUE(server.wait_job_state(ranged, "R")) << server.command({"qstat", "-f", ranged}).out;
    EXPECT_EQ(server.job(ranged, "Resource_List.select"), "3:ncpus=1");
    EXPECT_EQ(server.job(ranged, "Resource_List.ncpus"), "3");
    EXPECT_EQ(server.job(ranged, "Resource_List.select_range"), "2-8");
    EXPECT_THAT(server.command({"pbs_calendar", "resources", "ncpus", "--vnode", "n1"}).out,
                HasSubstr("in use 4  planned 0  booked 0  free 0"));
    const std::string next = server.submit("true\n", {"-l", "select=2:ncpus=1", "-l", "select_range=2-3"});
    ASSERT_TRUE(wait_for([&] { return !server.job(next, "comment").empty(); }));
    EXPECT_EQ(server.job(next, "job_state"), "Q");
    EXPECT_EQ(server.job(next, "Resource_List.ncpus"), "2");

    // When the job with a range is requeued and starts again, it may have all four CPUs.
    ASSERT_EQ(server.command({"qdel", first}).exit, 0);
    ASSERT_EQ(server.command({"qdel", next}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(first, "F"));
    ASSERT_EQ(server.command({"qrerun", ranged}).exit, 0);
    EXPECT_TRUE(wait_for([&] {
        return server.job(ranged, "job_state") == "R" &&
               server.job(ranged, "Resource_List.select") == "4:ncpus=1";
    })) << server.command({"qstat", "-f", ranged}).out;
}

// The sums of a job whose chunks have processes contain mpiprocs, which is no amount of a vnode.
TEST_F(JobRequests, RangesOfChunksWithProcessesStart) {
    const std::string ranged = server.submit("wc -l <$PBS_NODEFILE; sleep 60\n",
                                             {"-l", "select=1-:ncpus=1:mpiprocs=2", "-l", "place=free"});
    ASSERT_TRUE(server.wait_job_state(ranged, "R")) << server.command({"qstat", "-f", ranged}).out;
    EXPECT_EQ(server.job(ranged, "Resource_List.select"), "4:ncpus=1:mpiprocs=2");
    EXPECT_EQ(server.job(ranged, "Resource_List.mpiprocs"), "8");
    EXPECT_EQ(server.job(ranged, "Resource_List.select_range"), "1-");
    // The job starts again, and its request can be altered while it waits.
    ASSERT_EQ(server.command({"qhold", ranged}).exit, 0);
    ASSERT_EQ(server.command({"qrerun", ranged}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(ranged, "H"));
    const auto altered = server.command({"qalter", "-l", "select_range=1-3", ranged});
    ASSERT_EQ(altered.exit, 0) << altered.err;
    ASSERT_EQ(server.command({"qrls", ranged}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(ranged, "R")) << server.command({"qstat", "-f", ranged}).out;
    EXPECT_EQ(server.job(ranged, "Resource_List.select"), "3:ncpus=1:mpiprocs=2");
}

// With four chunks the job has more processes than a node file may have lines, so that the server refuses
// each start that the scheduler decides. The user learns why, and other jobs start meanwhile.
TEST_F(JobRequests, RefusedAtTheStartHoldNoOthersUp) {
    const std::string refused =
        server.submit("sleep 60\n", {"-l", "select=1-4:ncpus=1:mpiprocs=30000", "-l", "place=free"});
    ASSERT_TRUE(wait_for([&] { return !server.job(refused, "comment").empty(); }));
    EXPECT_THAT(server.job(refused, "comment"),
                HasSubstr("Not Running: PBS Error: Illegal value: the chunks have 120000 processes"));
    const std::string next = server.submit("sleep 60\n", {"-l", "select=1:ncpus=4"});
    EXPECT_TRUE(server.wait_job_state(next, "R")) << server.command({"qstat", "-f", next}).out;
    ASSERT_EQ(server.command({"qdel", next}).exit, 0);
    ASSERT_EQ(server.command({"qalter", "-l", "select_range=1-3", refused}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(refused, "R")) << server.command({"qstat", "-f", refused}).out;
}

TEST_F(JobRequests, AreDeletedIfTheyDoNotStartInTime) {
    const std::string first = server.submit("sleep 60\n", {"-l", "select=1:ncpus=4"});
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    const std::string patient = server.submit("true\n", {"-l", "select=1:ncpus=4"});
    const std::string at_once = server.submit("true\n", {"-l", "select=1:ncpus=4", "-l", "start_within=0"});
    const std::string soon = server.submit("true\n", {"-l", "select=1:ncpus=4", "-l", "start_within=2"});
    for (const std::string& job : {at_once, soon})
        EXPECT_TRUE(server.wait_job_state(job, "F")) << server.command({"qstat", "-xf", job}).out;
    EXPECT_THAT(server.job(soon, "comment"), HasSubstr("Not started within 2 s: Not enough free nodes"));
    EXPECT_EQ(server.job(patient, "job_state"), "Q");
    EXPECT_EQ(server.accounting().find(";S;" + at_once), std::string::npos);
}

TEST_F(JobRequests, OfAnArrayStartTogetherOrNotAtAll) {
    const std::string first = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1"});
    ASSERT_TRUE(server.wait_job_state(first, "R"));
    const auto submit = [&](const std::string& indices, const std::string& within) {
        return server.submit("sleep 60\n",
                             {"-J", indices, "-l", "select=1:ncpus=1", "-l", "start_within=" + within});
    };
    const auto shows = [&](const std::string& array, const std::string& count) {
        const Output shown = server.command({"qstat", "-f", array});
        return shown.out.find("array_state_count = " + count) != std::string::npos;
    };
    const std::string four = submit("1-4", "0");
    EXPECT_TRUE(server.wait_job_state(four, "F")) << server.command({"qstat", "-xf", four}).out;
    const std::string kWhy =
        "4 subjobs of the array start together, and 3 of them fit now: Not enough free nodes";
    EXPECT_THAT(server.job(four, "comment"), HasSubstr("Not started within 0 s: " + kWhy));
    EXPECT_EQ(server.accounting().find(";S;" + four.substr(0, four.find('['))), std::string::npos);

    const std::string soon = submit("1-4", "3600");
    EXPECT_TRUE(wait_for([&] {
        return server.job(soon, "comment") == "Not Running: " + kWhy + " available";
    })) << server.job(soon, "comment");
    EXPECT_TRUE(shows(soon, "Queued:4 Running:0"));
    EXPECT_THAT(server.command({"pbs_explain", soon}).out, HasSubstr("3 of them fit now"));
    ASSERT_EQ(server.command({"qdel", first}).exit, 0);
    EXPECT_TRUE(wait_for([&] { return shows(soon, "Queued:0 Running:4"); }))
        << server.command({"qstat", "-f", soon}).out;
    ASSERT_EQ(server.command({"qdel", soon}).exit, 0);

    // As many as may run at once start together, and the others later, one by one.
    const std::string two = submit("1-5%2", "3600");
    EXPECT_TRUE(wait_for([&] { return shows(two, "Queued:3 Running:2"); }))
        << server.command({"qstat", "-f", two}).out;
    const std::string number = two.substr(0, two.find('['));
    ASSERT_EQ(server.command({"qdel", number + "[1]"}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(number + "[3]", "R"));
}

// Wherever the server is killed, all subjobs run in the end, and each once: either none had been started, or
// all had, and those without processes are queued again.
TEST_F(JobRequests, OfAnArrayStartOnceIfTheServerIsKilled) {
    for (const int delay : {0, 3, 6, 10, 15, 25, 40}) {
        SCOPED_TRACE(delay);
        const std::string ran = (server.work() / fmt::format("ran{}", delay)).string();
        const std::string array =
            server.submit("echo $PBS_ARRAY_INDEX >>" + ran + "; sleep 60\n",
                          {"-J", "1-4", "-l", "select=1:ncpus=1", "-l", "start_within=3600"});
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        server.kill9();
        ASSERT_TRUE(server.start());
        const auto lines = [&] {
            std::ifstream file(ran);
            std::multiset<std::string> out;
            for (std::string line; std::getline(file, line);) out.insert(line);
            return out;
        };
        EXPECT_TRUE(wait_for([&] { return lines().size() >= 4; }))
            << server.command({"qstat", "-f", array}).out;
        EXPECT_EQ(lines(), (std::multiset<std::string>{"1", "2", "3", "4"}));
        EXPECT_THAT(server.command({"qstat", "-f", array}).out, HasSubstr("Queued:0 Running:4"));
        ASSERT_EQ(server.command({"qdel", array}).exit, 0);
        ASSERT_TRUE(server.wait_job_state(array, "F"));
    }
}

TEST_F(JobRequests, GoToPreferredVnodesAndInRounds) {
    ASSERT_TRUE(server.configure({
        "create node n2 resources_available.ncpus=4",
        "create node n3 resources_available.ncpus=4",
        "create resource chunk_order type=string",
        "create resource prefer type=string",
        "create resource colour type=string, flag=h",
        "set node n3 resources_available.colour=dark-blue",
    }));
    const auto place = [&](const std::vector<std::string>& options) {
        const std::string job = server.submit("sleep 60\n", options);
        EXPECT_TRUE(server.wait_job_state(job, "R")) << server.command({"qstat", "-f", job}).out;
        const std::string where = server.job(job, "exec_vnode");
        EXPECT_EQ(server.command({"qdel", job}).exit, 0);
        EXPECT_TRUE(server.wait_job_state(job, "F"));
        return where;
    };
    EXPECT_EQ(place({"-l", "select=1:ncpus=1", "-l", "prefer=\"colour=*blue+ncpus>=4\""}), "(n3:ncpus=1)");
    EXPECT_EQ(place({"-l", "select=1:ncpus=1", "-l", "prefer=\"colour=red\""}), "(n1:ncpus=1)");
    EXPECT_EQ(place({"-l", "select=3:ncpus=1", "-l", "chunk_order=round_robin"}),
              "(n1:ncpus=1)+(n2:ncpus=1)+(n3:ncpus=1)");
    ASSERT_TRUE(server.configure({"set policy default_policy chunk_order=round_robin"}));
    EXPECT_EQ(place({"-l", "select=2:ncpus=1"}), "(n1:ncpus=1)+(n2:ncpus=1)");
    const std::string wrong = server.submit("true\n", {"-l", "select=1:ncpus=1", "-l", "chunk_order=spiral"});
    ASSERT_TRUE(wait_for([&] { return !server.job(wrong, "comment").empty(); }));
    EXPECT_EQ(server.job(wrong, "comment"),
              "Can Never Run: chunk_order=spiral can't be scheduled here: expected fill or round_robin");
}

TEST_F(JobRequests, SubjobsAndReservedVnodesFollowThePolicy) {
    ASSERT_TRUE(server.configure({
        "create resource ngpus type=long, flag=nh",
        "set node n1 resources_available.ngpus=1",
        "set policy default_policy reserved_resources=ngpus, max_run_subjobs=2",
    }));
    const std::string plain = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1"});
    ASSERT_TRUE(wait_for([&] { return !server.job(plain, "comment").empty(); }));
    EXPECT_THAT(server.job(plain, "comment"), HasSubstr("reserved for jobs that request a resource of"));
    const std::string gpu = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1:ngpus=1"});
    EXPECT_TRUE(server.wait_job_state(gpu, "R"));

    ASSERT_TRUE(server.configure({"set policy default_policy reserved_resources=\"\""}));
    ASSERT_TRUE(server.wait_job_state(plain, "R"));
    ASSERT_EQ(server.command({"qdel", plain}).exit, 0);
    const std::string array = server.submit("sleep 60\n", {"-l", "select=1:ncpus=1", "-J", "1-5"});
    const auto running = [&] {
        const Output shown = server.command({"qstat", "-f", array});
        return shown.out.find("Running:2") != std::string::npos;
    };
    EXPECT_TRUE(wait_for(running)) << server.command({"qstat", "-f", array}).out;
    EXPECT_TRUE(wait_for([&] {
        return server.job(array, "comment").find("2 subjobs of the array are running") != std::string::npos;
    })) << server.command({"qstat", "-f", array}).out;
    EXPECT_TRUE(running()) << "one CPU is still free";
}

}  // namespace
}  // namespace pbs::e2e
