#include "server_plugin/host/run/job_process.h"

#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

namespace pbs::host {
namespace {

constexpr gid_t kFirst = 40'000;
constexpr gid_t kPrimary = 39'999;
constexpr int kMayNot = 255;

// Runs the function in a process for which /etc/group has `count` groups from kFirst on, with the member
// nobody. Returns the function's result; kMayNot: this process may not do that.
int with_groups(int count, const std::function<int()>& work) {
    const std::string file = testing::TempDir() + fmt::format("group.{}", ::getpid());
    std::ofstream text(file);
    text << "root:x:0:\n";
    for (int i = 0; i < count; ++i)
        text << fmt::format("g{}:x:{}:nobody\n", i, kFirst + static_cast<gid_t>(i));
    text.close();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool done = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount(file.c_str(), "/etc/group", nullptr, MS_BIND, nullptr) == 0;
        ::_exit(done ? work() : kMayNot);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::filesystem::remove(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

JobStart job_of_nobody() {
    JobStart job;
    job.user = "nobody";
    job.gid = kPrimary;
    return job;
}

// The group of the job and `count` others.
std::set<gid_t> expected(int count) {
    std::set<gid_t> groups{kPrimary};
    for (int i = 0; i < count; ++i) groups.insert(kFirst + static_cast<gid_t>(i));
    return groups;
}

std::set<gid_t> own_groups() {
    std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    return {groups.begin(), groups.begin() + count};
}

class JobGroups : public testing::TestWithParam<int> {};

TEST_P(JobGroups, AreAllFoundAndJoined) {
    const int count = GetParam();
    const int result = with_groups(count, [&] {
        JobStart job = job_of_nobody();
        look_up_groups(job);
        if (std::set<gid_t>(job.groups.begin(), job.groups.end()) != expected(count)) return 1;
        if (!join_groups(job) || own_groups() != expected(count)) return 2;
        job.groups.clear();  // then they are looked up
        if (::setgroups(0, nullptr) != 0) return 3;
        return join_groups(job) && own_groups() == expected(count) ? 0 : 4;
    });
    if (result == kMayNot) GTEST_SKIP() << "only root can have another /etc/group";
    EXPECT_EQ(result, 0);
}

// A lookup begins with room for 16 groups.
INSTANTIATE_TEST_SUITE_P(Counts, JobGroups, testing::Values(0, 1, 15, 16, 40));

TEST(TooManyJobGroups, AreLookedUpAgain) {
    const int result = with_groups(20, [] {
        JobStart job = job_of_nobody();
        job.groups.resize(static_cast<std::size_t>(::sysconf(_SC_NGROUPS_MAX)) + 1);
        std::iota(job.groups.begin(), job.groups.end(), 100'000U);
        return join_groups(job) && own_groups() == expected(20) ? 0 : 1;
    });
    if (result == kMayNot) GTEST_SKIP() << "only root can have another /etc/group";
    EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace pbs::host
