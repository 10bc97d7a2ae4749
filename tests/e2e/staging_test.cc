// Tests the folder in which a job runs, and the files that are copied to and from it: stagein, stageout,
// sandbox, -k, -R, umask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Staging : public OriginServer {
  protected:
    void SetUp() override {
        NEEDS(without_mom);
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set server job_history_enable=True"}));
        std::ofstream(server.work() / "data") << "of the user\n";
    }
    std::string path(const std::string& name) const { return (server.work() / name).string(); }
    std::string text(const std::string& name) const { return pbs::test::file_text(server.work() / name); }
    bool is(const std::string& name) const { return fs::exists(server.work() / name); }
    std::string staged(const std::string& what, const std::string& local, const std::string& remote) const {
        return what + "=" + local + "@localhost:" + path(remote);
    }
    // Runs a job to its end, and returns its sequence number.
    std::string job(const std::string& script, std::vector<std::string> options) const {
        options.insert(options.end(), {"-N", "s"});
        const std::string id = server.submit(script, options);
        EXPECT_TRUE(server.wait_job_state(id, "F"));
        return id.substr(0, id.find('.'));
    }
};

TEST_F(Staging, FilesAreCopiedInAndOutAndRemovedWhereTheJobHadThem) {
    const std::string id = job(
        "cd " + server.work().string() + "; cat in; echo made > out.1; echo too > out.2; echo $PBS_JOBDIR\n",
        {"-W", staged("stagein", path("in"), "data") + "," + staged("stageout", path("out.*"), "results")});
    EXPECT_THAT(text("s.o" + id), HasSubstr("of the user\n/"));
    EXPECT_EQ(text("data"), "of the user\n");
    EXPECT_EQ(text("results"), "too\n") << "the later one of two";
    for (const char* gone : {"in", "out.1", "out.2"}) EXPECT_FALSE(is(gone)) << gone;
}

TEST_F(Staging, WhatCantGoOutIsKeptAndToldOf) {
    const std::string id =
        job("echo made > " + path("out") + "\n", {"-W", staged("stageout", path("out"), "no/such/folder")});
    EXPECT_EQ(text("out"), "made\n");
    EXPECT_THAT(server.job(id, "comment"), HasSubstr("stageout of "));
    EXPECT_THAT(server.log(), HasSubstr("it is kept"));
}

TEST_F(Staging, AJobWhoseFilesAreMissingWaits) {
    const std::string id = server.submit("echo ran\n", {"-N", "s", "-W", staged("stagein", "in", "missing")});
    ASSERT_TRUE(server.wait_job_state(id, "W"));
    EXPECT_THAT(server.job(id, "comment"), HasSubstr("missing"));
    EXPECT_EQ(server.job(id, "Exit_status"), "(none)");
    EXPECT_FALSE(is("s.o" + id.substr(0, id.find('.'))));
}

TEST_F(Staging, OutputIsRemovedAfterAGoodEndOnly) {
    const std::string good = job("echo a; echo b >&2\n", {"-R", "o"});
    EXPECT_FALSE(is("s.o" + good));
    EXPECT_TRUE(is("s.e" + good));
    const std::string bad = job("echo a; exit 1\n", {"-R", "oe"});
    EXPECT_EQ(text("s.o" + bad), "a\n");
}

TEST_F(Staging, OutputHasTheJobsUmaskAndIsWrittenWhereItGoes) {
    const std::string id = job("umask\n", {"-W", "umask=027", "-k", "doe"});
    struct stat info {};
    ASSERT_EQ(stat(path("s.o" + id).c_str(), &info), 0) << "-k d: not in the home directory";
    EXPECT_EQ(info.st_mode & 0777, 0640U);
    EXPECT_EQ(text("s.o" + id), "0027\n");
}

TEST_F(Staging, WhatIsWrongIsRefused) {
    const std::pair<std::string, std::string> wrong[] = {
        {"stagein=foo", "expected local_path@host:path"},
        {"stagein=a@elsewhere:/x", "another machine"},
        {"stageout=a@localhost:", "expected local_path@host:path"},
        {"sandbox=FOO", "expected PRIVATE, HOME"},
        {"umask=999", "octal"}};
    for (const auto& [value, message] : wrong) {
        const Output refused = server.command_as(runner(), {"qsub", "-W", value, "--", "/bin/true"});
        EXPECT_NE(refused.exit, 0) << value;
        EXPECT_THAT(refused.err, HasSubstr(message)) << value;
    }
}

}  // namespace
}  // namespace pbs::e2e
