#include "server_plugin/host/run/job_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/host/run/runner.h"

namespace pbs::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::Pair;

JobStart example_start() {
    JobStart job;
    job.id = {"12.server", 1};
    job.name = "run";
    job.queue = "batch";
    job.variables = {
        {"PBS_O_WORKDIR", "/data/alice"}, {"PATH", "/mine"}, {"PBS_JOBID", "forged"}, {"A", "b=c"}};
    job.threads = 4;
    return job;
}
const Account kAlice{"alice", "/home/alice", "/bin/bash"};

TEST(JobEnvironment, PutsPbsVariablesAboveTheJobsAndThoseAboveDefaults) {
    const auto env =
        job_environment(example_start(), kAlice, {"/bin/sh", "/nodes", "/tmp/x", "/home/alice", "C0"},
                        {{"PATH", "/default"}, {"TZ", "UTC"}});
    EXPECT_THAT(env, testing::IsSupersetOf({"PATH=/mine", "TZ=UTC", "PBS_JOBID=12.server", "A=b=c", "NCPUS=4",
                                            "HOME=/home/alice", "SHELL=/bin/sh", "TMPDIR=/tmp/x",
                                            "PBS_JOBCOOKIE=C0", "PBS_NODEFILE=/nodes",
                                            "PBS_ENVIRONMENT=PBS_BATCH", "ENVIRONMENT=BATCH"}));
    EXPECT_THAT(env, Not(Contains(testing::StartsWith("PBS_ACCOUNT"))));
}

TEST(JobEnvironment, LeavesOutNamesThatCannotBeInAnEnvironment) {
    auto job = example_start();
    job.variables = {{"", "x"}, {"A=B", "c"}};
    const auto env = job_environment(job, kAlice, {}, {});
    EXPECT_THAT(env, Not(Contains(testing::StartsWith("="))));
    EXPECT_THAT(env, Not(Contains(testing::StartsWith("A="))));
}

TEST(EnvironmentFile, HasOneVariableALine) {
    EXPECT_THAT(parse_environment_file("PATH=/bin\n# no\n\nbad\n=x\nTZ=UTC \r\nLAST=a=b"),
                ElementsAre(Pair("PATH", "/bin"), Pair("TZ", "UTC"), Pair("LAST", "a=b")));
}

TEST(OutputFile, IsNamedAfterTheJob) {
    EXPECT_EQ(default_file_name("run", "12.server", 'o'), "run.o12");
    EXPECT_EQ(default_file_name("run", "12[3].server", 'e'), "run.e12.3");
    EXPECT_EQ(default_file_name("run", "12", 'e'), "run.e12");
}

TEST(OutputFile, PathsMayHaveAHost) {
    EXPECT_THAT(split_path("host:/a/b"), Pair("host", "/a/b"));
    EXPECT_THAT(split_path("/a:b"), Pair("", "/a:b"));
    EXPECT_THAT(split_path("dir/a:b"), Pair("", "dir/a:b"));
    EXPECT_THAT(split_path("name"), Pair("", "name"));
    EXPECT_THAT(split_path("host:name"), Pair("host", "name"));
    EXPECT_THAT(split_path("host:"), Pair("host", ""));
}

TEST(SameHost, ComparesNamesWithAndWithoutADomain) {
    EXPECT_TRUE(same_host("node1", "NODE1.example.org"));
    EXPECT_TRUE(same_host("node1.example.org", "node1"));
    EXPECT_TRUE(same_host("", "node1"));
    EXPECT_TRUE(same_host("localhost", "node1"));
    EXPECT_FALSE(same_host("node1.example.org", "node1.example.com"));
    EXPECT_FALSE(same_host("node1", "node10"));
}

TEST(OutputFile, GoesWhereTheJobSays) {
    auto job = example_start();
    EXPECT_EQ(output_file(job, kAlice, 'o'), "/data/alice/run.o12");
    job.output_path = "host:/out/file";
    job.error_path = "host:sub/err";
    EXPECT_EQ(output_file(job, kAlice, 'o'), "/out/file");
    EXPECT_EQ(output_file(job, kAlice, 'e'), "/home/alice/sub/err");
    job.keep = "e";
    EXPECT_EQ(output_file(job, kAlice, 'o'), "/out/file");
    EXPECT_EQ(output_file(job, kAlice, 'e'), "/home/alice/run.e12");
    job.variables.clear();
    job.output_path.clear();
    EXPECT_EQ(output_file(job, kAlice, 'o'), "/home/alice/run.o12");
}

}  // namespace
}  // namespace pbs::host
