// Tests qrun with the built plugin: the places that the plugin finds for jobs, and its reasons if it finds
// none.
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RunJobTest : public PluginServerTest {
  protected:
    void SetUp() override {
        PluginServerTest::SetUp();
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "f"), 0);
        make_queue("q");
        for (const char* name : {"v0", "v1", "v2", "v3"}) make_node(name, "2");
    }
    std::string job(const std::string& select, const std::string& queue = "q", ifl::Attributes more = {}) {
        more.push_back(attribute("Resource_List.select", select));
        return submit(user(), std::move(more), queue);
    }
    // Requests that the job is run. Returns an empty text if it runs, the text of the refusal if resources
    // are lacking, or the code of another error.
    std::string run(const std::string& id, const std::string& where = {}) {
        const ifl::Reply reply = ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, where, 0});
        if (reply.code == 0) return {};
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        if (reply.code != PBSE_RESCUNAV || text == nullptr) return std::to_string(reply.code);
        return text->text;
    }
};

TEST_F(RunJobTest, StartsWhereTheSchedulerFindsRoom) {
    ASSERT_EQ(set(PBS_OBJ_NODE, "v0", "state", "offline"), 0);
    const std::string id = job("1:ncpus=3+1:ncpus=1:vnode=v3");
    EXPECT_EQ(run(id), "");
    EXPECT_EQ(job_shows(id, "job_state"), "R");
    EXPECT_EQ(job_shows(id, "exec_vnode"), "(v1:ncpus=2+v2:ncpus=1)+(v3:ncpus=1)");
    EXPECT_THAT(job_shows(id, "comment"), StartsWith("Job run at "));
    EXPECT_EQ(run(id), std::to_string(PBSE_BADSTATE));
    EXPECT_THAT(log_text(), HasSubstr(id + ";Job Run at request of root@"));
}

TEST_F(RunJobTest, WhyItDoesNotFitIsTheReplyAndTheComment) {
    const std::string busy = job("4:ncpus=2");
    ASSERT_EQ(run(busy), "");
    const std::string id = job("1:ncpus=1");
    EXPECT_EQ(run(id), "Not enough free nodes available");
    EXPECT_EQ(job_shows(id, "comment"), "Not Running: Not enough free nodes available");
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    const std::string large = job("9:ncpus=1");
    EXPECT_EQ(run(large), "Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)");
    EXPECT_THAT(job_shows(large, "comment"), StartsWith("Can Never Run: "));
    executor_.reports.push_back(ended(busy, 0));
    take_run_events(*server_);
    EXPECT_EQ(run(id), "");
}

// In OpenPBS, qrun starts such jobs, too.
TEST_F(RunJobTest, HeldAndWaitingJobsAndThoseOfStoppedQueuesStart) {
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "started", "f"), 0);
    const std::string held = job("1:ncpus=1", "q", {attribute("Hold_Types", "u")});
    ASSERT_EQ(job_shows(held, "job_state"), "H");
    EXPECT_EQ(run(held), "");
    EXPECT_EQ(job_shows(held, "job_state"), "R");
    const std::string later =
        job("1:ncpus=1", "q", {attribute("Execution_Time", std::to_string(server_->now() + 1000))});
    ASSERT_EQ(job_shows(later, "job_state"), "W");
    EXPECT_EQ(run(later), "");
    EXPECT_EQ(job_shows(later, "job_state"), "R");
}

TEST_F(RunJobTest, WhatAHeldJobWaitsForStaysItsComment) {
    const std::string held = job("9:ncpus=1", "q", {attribute("Hold_Types", "u")});
    const std::string comment = job_shows(held, "comment");
    EXPECT_THAT(run(held), HasSubstr("Insufficient"));
    EXPECT_EQ(job_shows(held, "comment"), comment);
    EXPECT_EQ(job_shows(held, "job_state"), "H");
}

TEST_F(RunJobTest, NoJobOfARouteQueueStarts) {
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "r",
                     {attribute("queue_type", "r"), attribute("route_destinations", "q"),
                      attribute("enabled", "t")})
                  .code,
              0);
    EXPECT_EQ(run(job("1:ncpus=1", "r")), std::to_string(PBSE_IVALREQ));
}

TEST_F(RunJobTest, NamedVnodesGetTheChunksInTurn) {
    const std::string id = job("3:ncpus=1");
    EXPECT_EQ(run(id, "v3+v1"), "");
    EXPECT_EQ(job_shows(id, "exec_vnode"), "(v3:ncpus=1)+(v1:ncpus=1)+(v3:ncpus=1)");
    const std::string more = job("2:ncpus=1");
    EXPECT_EQ(run(more, "v3"), "Resource temporarily unavailable: ncpus on vnode v3");
    EXPECT_EQ(run(more, "v1+v2"), "");
}

// A started job with a range gets a select with its number of chunks, here the least of the range. It starts
// whatever it asks for beside the range.
TEST_F(RunJobTest, RangesOfAnyChunksStart) {
    for (const auto& [name, type, flag] : {std::tuple{"gm", "string_array", "h"},
                                           std::tuple{"gpu", "boolean", "h"}, std::tuple{"lic", "long", "q"}})
        ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, name,
                         {attribute("type", type), attribute("flag", flag)})
                      .code,
                  0);
    make_queue("pairs");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "pairs", "default_chunk.mpiprocs", "2"), 0);
    make_queue("whole");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "whole", "resources_default.mpiprocs", "1"), 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "resources_available.lic", "9"), 0);
    for (const char* node : {"v0", "v1", "v2", "v3"}) {
        ASSERT_EQ(set(PBS_OBJ_NODE, node, "resources_available.gm", "a100,v100"), 0);
        ASSERT_EQ(set(PBS_OBJ_NODE, node, "resources_available.gpu", "True"), 0);
        ASSERT_EQ(set(PBS_OBJ_NODE, node, "resources_available.arch", "linux"), 0);
        ASSERT_EQ(set(PBS_OBJ_NODE, node, "resources_available.ncpus", "3"), 0);
        ASSERT_EQ(set(PBS_OBJ_NODE, node, "resources_available.mem", "4gb"), 0);
    }
    struct Case {
        std::map<std::string, std::string> asked;
        std::string queue, select, place;
        std::map<std::string, std::string> sums;
    };
    const std::vector<Case> cases = {
        {{{"select", "1:ncpus=1:mpiprocs=1"}, {"place", "free"}, {"select_range", "2-"}},
         "q",
         "2:ncpus=1:mpiprocs=1",
         "free",
         {{"ncpus", "2"}, {"mpiprocs", "2"}, {"nodect", "2"}}},
        {{{"select", "3:ncpus=1:mpiprocs=1"}, {"select_range", "3-3"}},
         "q",
         "3:ncpus=1:mpiprocs=1",
         "free",
         {{"mpiprocs", "3"}}},
        {{{"select", "1:ncpus=1:mpiprocs=1+1:ncpus=1"}, {"select_range", "2-3"}},
         "q",
         "2:ncpus=1:mpiprocs=1+1:ncpus=1",
         "free",
         {{"mpiprocs", "2"}, {"ncpus", "3"}}},
        {{{"nodes", "1:ppn=1"}, {"select_range", "1-12"}},
         "q",
         "1:ncpus=1:mpiprocs=1",
         "scatter",
         {{"mpiprocs", "1"}, {"nodes", ""}}},
        {{{"nodes", "1:ppn=1#excl"}, {"select_range", "1-3"}},
         "q",
         "1:ncpus=1:mpiprocs=1",
         "scatter:excl",
         {{"mpiprocs", "1"}}},
        {{{"ncpus", "1"}, {"mem", "1gb"}, {"select_range", "2-3"}, {"lic", "2"}},
         "q",
         "2:mem=1gb:ncpus=1",
         "pack",
         {{"ncpus", "2"}, {"mem", "2gb"}, {"lic", "2"}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}, {"vnode", "v1"}},
         "q",
         "2:ncpus=1:vnode=v1",
         "pack",
         {{"vnode", ""}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}, {"arch", "linux"}},
         "q",
         "2:arch=linux:ncpus=1",
         "pack",
         {{"arch", ""}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}, {"ompthreads", "2"}},
         "q",
         "2:ncpus=1:ompthreads=2",
         "pack",
         {{"ompthreads", ""}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}, {"gm", "a100"}},
         "q",
         "2:gm=a100:ncpus=1",
         "pack",
         {{"gm", ""}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}, {"gpu", "True"}},
         "q",
         "2:gpu=True:ncpus=1",
         "pack",
         {{"gpu", ""}}},
        {{{"select", "1:ncpus=1"}, {"select_range", "2-3"}},
         "pairs",
         "2:ncpus=1:mpiprocs=2",
         "free",
         {{"mpiprocs", "4"}}},
        {{{"ncpus", "1"}, {"select_range", "2-3"}},
         "whole",
         "2:mpiprocs=1:ncpus=1",
         "pack",
         {{"mpiprocs", "2"}}},
    };
    for (const Case& one : cases) {
        ifl::Attributes asked;
        for (const auto& [name, value] : one.asked)
            asked.push_back(attribute("Resource_List." + name, value));
        const std::string id = submit(user(), asked, one.queue);
        SCOPED_TRACE(one.select);
        EXPECT_EQ(run(id), "");
        EXPECT_EQ(job_shows(id, "job_state"), "R");
        EXPECT_EQ(job_shows(id, "Resource_List.select"), one.select);
        EXPECT_EQ(job_shows(id, "Resource_List.place"), one.place);
        for (const auto& [name, sum] : one.sums)
            EXPECT_EQ(job_shows(id, "Resource_List." + name), sum) << name;
        executor_.reports.push_back(ended(id, 0));
        take_run_events(*server_);
    }
}

TEST_F(RunJobTest, ByOriginItHasItsNodesAndStaysInItsQueue) {
    make_queue("batch");
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy",
                     {attribute("algorithm", "origin"), attribute("submit_queue", "q"),
                      attribute("batch_queues", "batch")})
                  .code,
              0);
    const std::string id = submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    EXPECT_EQ(run(id), "");
    EXPECT_EQ(job_shows(id, "queue"), "q");
    EXPECT_EQ(job_shows(id, "Resource_List.ssinodes"), "1");
}

}  // namespace
}  // namespace pbs::host
