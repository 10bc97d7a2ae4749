#include "server_plugin/host/base/home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HomeTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "home." + std::to_string(::getpid());
        fs::create_directory(top_);
        path_ = top_ + "/pbs";
    }
    void TearDown() override { fs::remove_all(top_); }
    std::string error() const {
        const auto home = Home::open(path_);
        return home ? "" : home.error().message;
    }
    std::string top_;
    std::string path_;
};

TEST_F(HomeTest, MakesTheLayoutWhateverTheUmask) {
    const mode_t before = ::umask(077);
    const auto home = Home::open(path_);
    ::umask(before);
    ASSERT_TRUE(home) << home.error().message;
    const std::map<std::string, unsigned> modes = {{"", 0755},
                                                   {"/server_priv", 0711},
                                                   {"/server_priv/jobs", 0700},
                                                   {"/sched_priv", 0750},
                                                   {"/server_priv/accounting", 0750},
                                                   {"/server_logs", 0755},
                                                   {"/sched_logs", 0755},
                                                   {"/spool", 01777},
                                                   {"/undelivered", 0755},
                                                   {"/mom_priv", 0751},
                                                   {"/mom_priv/jobs", 0751},
                                                   {"/aux", 0755}};
    for (const auto& [name, mode] : modes) {
        struct stat status {};
        ASSERT_EQ(::stat((path_ + name).c_str(), &status), 0) << name;
        EXPECT_EQ(status.st_mode & 07777, mode) << name;
    }
    EXPECT_EQ(home->accounting(), path_ + "/server_priv/accounting");
}

TEST_F(HomeTest, OpensAnExistingHomeAndKeepsItsModes) {
    ASSERT_TRUE(Home::open(path_ + "/"));
    ::chmod((path_ + "/sched_priv").c_str(), 0755);
    const auto home = Home::open(path_ + "/./");
    ASSERT_TRUE(home);
    EXPECT_EQ(home->path(), path_);
    EXPECT_EQ(fs::status(path_ + "/sched_priv").permissions(), fs::perms(0755));
}

TEST_F(HomeTest, TakesUndeliveredFromOthersWhoOnceCouldWriteThere) {
    ASSERT_TRUE(Home::open(path_));
    ::chmod((path_ + "/undelivered").c_str(), 01777);
    ASSERT_TRUE(Home::open(path_));
    EXPECT_EQ(fs::status(path_ + "/undelivered").permissions(), fs::perms(0755));
}

TEST_F(HomeTest, RefusesWhatIsNoSafeDirectory) {
    ASSERT_TRUE(Home::open(path_));
    ::chmod((path_ + "/server_priv").c_str(), 0777);
    EXPECT_THAT(error(),
                HasSubstr("directory " + path_ + "/server_priv may be written by everyone (mode 0777)"));
    ::chmod((path_ + "/server_priv").c_str(), 0711);
    fs::remove(path_ + "/aux");
    std::ofstream(path_ + "/aux") << "x";
    EXPECT_THAT(error(), HasSubstr("/aux is not a directory"));
    fs::remove(path_ + "/aux");
    if (::geteuid() == 0) {
        fs::create_directory(path_ + "/aux");
        ASSERT_EQ(::chown((path_ + "/aux").c_str(), 12345, 12345), 0);
        EXPECT_THAT(error(), HasSubstr("/aux belongs to uid 12345, expected root or uid 0"));
    } else {
        fs::create_directory(path_ + "/aux");
        ::chmod((path_ + "/aux").c_str(), 0500);
        EXPECT_THAT(error(), HasSubstr("/aux is not writable for this server"));
    }
}

TEST_F(HomeTest, NeedsAParentDirectory) {
    path_ = top_ + "/no/parent";
    EXPECT_THAT(error(), HasSubstr("cannot be created: No such file or directory"));
    path_ = "";
    EXPECT_THAT(error(), HasSubstr("is not a path"));
    path_ = "/";
    EXPECT_THAT(error(), HasSubstr("root directory"));
}

// Tries to lock PBS_HOME in a child process. Returns the child's exit status: 0, or 1 with the error in the
// file `error_file`.
int lock_elsewhere(const std::string& path, const std::string& error_file) {
    const pid_t child = ::fork();
    if (child == 0) {
        auto home = Home::open(path);
        const auto locked = home->lock();
        if (!locked) std::ofstream(error_file) << locked.error().message;
        ::_exit(locked ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST_F(HomeTest, KeepsASecondServerOut) {
    auto first = Home::open(path_);
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->lock());
    EXPECT_EQ(lock_elsewhere(path_, top_ + "/error"), 1);
    std::string error;
    std::getline(std::ifstream(top_ + "/error"), error);
    EXPECT_EQ(error, "another pbs_server runs on " + path_ + " (pid " + std::to_string(::getpid()) + ")");
    // The server is gone, but a child that it has forked hasn't reached exec yet. The child doesn't keep the
    // lock.
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    { const Home gone = std::move(*first); }
    EXPECT_EQ(lock_elsewhere(path_, top_ + "/error"), 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST_F(HomeTest, AServerThatWasKilledLeavesNoLock) {
    ASSERT_TRUE(Home::open(path_));
    const pid_t child = ::fork();
    if (child == 0) {
        auto home = Home::open(path_);
        if (!home || !home->lock()) ::_exit(1);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    auto home = Home::open(path_);
    EXPECT_TRUE(home->lock());
}

}  // namespace
}  // namespace pbs::host
