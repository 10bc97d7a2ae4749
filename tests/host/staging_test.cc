#include "server_plugin/host/run/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/file_text.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class StagingTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "staging." + std::to_string(getpid());
        fs::create_directories(folder_ + "/job");
        job_.user = getuid() == 0 ? "root" : std::to_string(getuid());
        job_.uid = getuid();
        job_.gid = getgid();
        job_.id = {"12.svr", 1};
    }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name) << text;
    }
    std::string read(const std::string& name) const { return pbs::test::file_text(folder_ + "/" + name); }
    bool is(const std::string& name) const { return fs::exists(folder_ + "/" + name); }
    std::string directory() const { return folder_ + "/job"; }

    std::string folder_;
    JobStart job_;
};

TEST(StagedFile, IsLocalAtHostAndPath) {
    const auto file = parse_staged_file("a b@host.example.org:/data/c:d");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->local, "a b");
    EXPECT_EQ(file->host, "host.example.org");
    EXPECT_EQ(file->remote, "/data/c:d");
    const auto comma = parse_staged_file("a\\,b@h:/c\\,d\\e");
    ASSERT_TRUE(comma);
    EXPECT_EQ(comma->local, "a,b");
    EXPECT_EQ(comma->remote, "/c,d\\e");
    for (const char* wrong : {"", "a", "a@b", "@h:/x", "a@:/x", "a@h:"}) {
        const auto result = parse_staged_file(wrong);
        ASSERT_FALSE(result) << wrong;
        EXPECT_EQ(result.error().code, 15014);
    }
}

TEST_F(StagingTest, CopiesInAndOutAndRemovesTheJobsCopies) {
    write("data", "one");
    fs::create_directories(folder_ + "/tree");
    write("tree/leaf", "two");
    job_.stage_in = {"in@h:" + folder_ + "/data", "tree@h:" + folder_ + "/tree"};
    ASSERT_TRUE(stage_in(job_, directory(), folder_));
    EXPECT_EQ(read("job/in"), "one");
    EXPECT_EQ(read("job/tree/leaf"), "two");
    write("job/out.1", "three");
    job_.stage_out = {"out.?@h:" + folder_ + "/result"};
    EXPECT_EQ(stage_out(job_, directory(), folder_), "");
    EXPECT_EQ(read("result"), "three");
    EXPECT_TRUE(fs::is_empty(directory()));
    EXPECT_EQ(read("data"), "one");
    EXPECT_EQ(read("tree/leaf"), "two");
}

// These characters have a meaning in patterns and lists, but none in the names of folders.
TEST_F(StagingTest, FoldersMayHaveCharactersOfPatternsAndLists) {
    for (const std::string name : {"a\\b", "it's \"x\"", "a,b", "[x]", "*?", "l\nb"}) {
        const std::string folder = folder_ + "/" + name;
        fs::create_directories(folder + "/job");
        std::ofstream(folder + "/data") << "one";
        std::string listed;
        for (const char c : folder) listed += c == ',' ? "\\," : std::string(1, c);
        job_.stage_in = {"in@h:" + listed + "/data"};
        job_.stage_out = {"i*@h:" + listed + "/result", listed + "/job/in@h:" + listed + "/too"};
        ASSERT_TRUE(stage_in(job_, folder + "/job", folder_)) << name;
        EXPECT_EQ(stage_out(job_, folder + "/job", folder_), "") << name;
        EXPECT_TRUE(fs::exists(folder + "/result")) << name;
        EXPECT_TRUE(fs::exists(folder + "/too")) << name;
    }
}

TEST_F(StagingTest, ARemotePathWithoutASlashIsInTheHomeDirectory) {
    write("data", "one");
    job_.stage_in = {"in@h:data"};
    job_.stage_out = {"in@h:result"};
    ASSERT_TRUE(stage_in(job_, directory(), folder_));
    EXPECT_EQ(read("job/in"), "one");
    EXPECT_EQ(stage_out(job_, directory(), folder_), "");
    EXPECT_EQ(read("result"), "one");
    EXPECT_TRUE(fs::is_empty(directory()));
}

// The owner can read the environment of a program that runs as him.
TEST_F(StagingTest, CpHasNoneOfTheServersVariables) {
    ::setenv("PBS_TEST_SECRET", "of the server", 1);
    ::setenv("LC_ALL", "C", 1);
    job_.stage_in = {"in@h:/proc/self/environ"};
    const auto done = stage_in(job_, directory(), folder_);
    ::unsetenv("PBS_TEST_SECRET");
    ::unsetenv("LC_ALL");
    ASSERT_TRUE(done) << done.error();
    const std::string environment = read("job/in");
    EXPECT_THAT(environment, testing::StartsWith(std::string("PATH=/usr/bin:/bin\0", 19)));
    EXPECT_THAT(environment, HasSubstr("LC_ALL=C"));
    EXPECT_THAT(environment, testing::Not(HasSubstr("PBS_TEST_SECRET")));
}

TEST_F(StagingTest, AFileThatIsItsOwnCopyStays) {
    write("job/both", "one");
    job_.stage_in = {"both@h:" + directory() + "/both"};
    job_.stage_out = {"both@h:" + directory() + "/both"};
    ASSERT_TRUE(stage_in(job_, directory(), folder_));
    EXPECT_EQ(stage_out(job_, directory(), folder_), "");
    EXPECT_EQ(read("job/both"), "one");
}

TEST_F(StagingTest, WhatFailsIsNamedAndKept) {
    job_.stage_in = {"in@h:" + folder_ + "/missing"};
    const auto in = stage_in(job_, directory(), folder_);
    ASSERT_FALSE(in);
    EXPECT_THAT(in.error(), AllOf(HasSubstr("/missing"), HasSubstr("No such file")));
    job_.stage_in.clear();
    write("job/out", "one");
    job_.stage_out = {"out@h:" + folder_ + "/no/such", "none@h:" + folder_ + "/x"};
    const std::string out = stage_out(job_, directory(), folder_);
    EXPECT_THAT(out, AllOf(HasSubstr("it is kept"), HasSubstr("there is no such file")));
    EXPECT_EQ(read("job/out"), "one");
}

TEST_F(StagingTest, ASandboxIsEmptyAndItsOwners) {
    const auto made = make_sandbox(job_, folder_);
    ASSERT_TRUE(made) << made.error();
    struct stat info {};
    ASSERT_EQ(stat(made->c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
    std::ofstream(*made + "/left") << "of the run before";
    ASSERT_TRUE(make_sandbox(job_, folder_));
    EXPECT_TRUE(fs::is_empty(*made));
    remove_as_owner(job_, {*made});
    EXPECT_FALSE(fs::exists(*made));
    EXPECT_FALSE(make_sandbox(job_, folder_ + "/no/such"));
}

}  // namespace
}  // namespace pbs::host
