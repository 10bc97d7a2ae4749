#include "server_plugin/host/run/control_group.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pbs::host {
namespace {

const std::string kOther = "29 28 0:26 / /sys/fs/cgroup/cpu rw,relatime shared:11 - cgroup cgroup rw,cpu\n";

std::string mount(const std::string& root, const std::string& point) {
    return kOther + "30 23 0:26 " + root + " " + point +
           " rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n";
}
std::string own(const std::string& mounts, const std::string& groups) {
    const auto path = own_control_group(mounts, groups);
    return path ? *path : "error: " + path.error().message;
}

TEST(OwnControlGroup, IsBelowTheMount) {
    EXPECT_EQ(own(mount("/", "/sys/fs/cgroup"), "0::/system.slice/pbs.service\n"),
              "/sys/fs/cgroup/system.slice/pbs.service");
    EXPECT_EQ(own(mount("/", "/sys/fs/cgroup"), "4:memory:/x\n0::/\n"), "/sys/fs/cgroup");
    EXPECT_EQ(own(mount("/", "/with\\040blank"), "0::/a b\n"), "/with blank/a b");
}

TEST(OwnControlGroup, CountsFromTheRootThatIsMounted) {
    EXPECT_EQ(own(mount("/docker/1", "/sys/fs/cgroup"), "0::/docker/1/pbs\n"), "/sys/fs/cgroup/pbs");
    EXPECT_EQ(own(mount("/docker/1", "/sys/fs/cgroup"), "0::/docker/1\n"), "/sys/fs/cgroup");
    EXPECT_EQ(own(mount("/docker/1", "/sys/fs/cgroup"), "0::/docker/10\n"),
              "error: the group /docker/10 is not below /docker/1, which is mounted at /sys/fs/cgroup");
}

TEST(OwnControlGroup, SaysWhatIsMissing) {
    EXPECT_EQ(own(kOther, "0::/\n"), "error: no file system of type cgroup2 is mounted");
    EXPECT_EQ(own("", ""), "error: no file system of type cgroup2 is mounted");
    EXPECT_EQ(own(mount("/", "/sys/fs/cgroup"), "1:name=systemd:/\n"),
              "error: this process is in no cgroup2 group");
    EXPECT_EQ(own(mount("/", "/sys/fs/cgroup"), "0::/../other\n"),
              "error: the group /../other is outside of what this process sees");
}

TEST(ControlGroup, ThatIsNotThereHasNoProcesses) {
    EXPECT_TRUE(control_group_processes("/no/such/group").empty());
    EXPECT_TRUE(remove_control_group("/no/such/group"));
    EXPECT_FALSE(make_control_group("/no/such/group"));
}

TEST(ControlGroup, OfATryThatWasKilledIsRemoved) {
    const auto parent = control_group_parent();
    if (!parent) GTEST_SKIP() << parent.error().message;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const std::string of_dead = fmt::format("{}/pbs-try-{}", *parent, child);
    const std::string of_living = fmt::format("{}/pbs-try-{}", *parent, ::getppid());
    const std::string other = fmt::format("{}/pbs-try-{}x", *parent, child);
    for (const std::string& path : {of_dead, of_living, other}) ASSERT_TRUE(make_control_group(path));
    EXPECT_TRUE(control_group_parent());
    EXPECT_FALSE(std::filesystem::exists(of_dead));
    EXPECT_TRUE(std::filesystem::exists(of_living));
    EXPECT_TRUE(std::filesystem::exists(other));
    for (const std::string& path : {of_living, other}) EXPECT_TRUE(remove_control_group(path));
}

// Plain folders stand in for groups: the files are those of the kernel.
class Weights : public ::testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directories(parent); }
    void TearDown() override { std::filesystem::remove_all(parent); }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(parent + "/" + file) << text;
    }
    std::string read(const std::string& file) const {
        std::string text;
        std::getline(std::ifstream(parent + "/" + file), text);
        return text;
    }
    const std::string parent = fmt::format("{}/pbs_weights_{}", ::testing::TempDir(), ::getpid());
};

TEST_F(Weights, AreThereIfTheControllerIsEnabled) {
    write("cgroup.subtree_control", "memory cpu pids\n");
    EXPECT_TRUE(enable_weights(parent));
}

TEST_F(Weights, AreEnabledIfTheGroupHasTheController) {
    write("cgroup.subtree_control", "cpuset\n");
    write("cgroup.controllers", "cpuset cpu memory\n");
    EXPECT_TRUE(enable_weights(parent));
    EXPECT_EQ(read("cgroup.subtree_control").substr(0, 4), "+cpu");
}

TEST_F(Weights, AreNotThereWithoutTheController) {
    EXPECT_EQ(enable_weights(parent).error().message, parent + " has no controller cpu");
    write("cgroup.controllers", "cpuset memory\n");
    EXPECT_EQ(enable_weights(parent).error().message, parent + " has no controller cpu");
    write("cgroup.controllers", "cpu\n");
    EXPECT_EQ(enable_weights(parent).error().message,
              fmt::format("cannot enable the controller cpu in {}: No such file or directory", parent));
}

TEST_F(Weights, TheErrorCountsTheProcessesInTheGroupItself) {
    write("cgroup.procs", "7\n8\n");
    EXPECT_EQ(why_busy(parent),
              ": 2 processes are in that group itself, and the kernel shares out CPUs only between groups "
              "that have no processes beside them");
    write("cgroup.procs", fmt::format("7\n{}\n8\n", ::getpid()));
    EXPECT_EQ(why_busy(parent),
              ": 3 processes are in that group itself, the server among them, and the kernel shares out CPUs "
              "only between groups that have no processes beside them; systemd 254 or later puts the server "
              "into a group of its own (DelegateSubgroup)");
}

TEST_F(Weights, OfAGroup) {
    EXPECT_EQ(weigh_control_group(parent, 250).error().message,
              fmt::format("cannot write {}/cpu.weight: No such file or directory", parent));
    write("cpu.weight", "");
    EXPECT_TRUE(weigh_control_group(parent, 250));
    EXPECT_EQ(read("cpu.weight"), "250");
}

// systemd marks the folder of a delegated service by an extended attribute.
TEST(GroupOfJobs, IsBesideThatOfTheServerInADelegatedService) {
    const std::string service = fmt::format("{}/pbs_service_{}", ::testing::TempDir(), ::getpid());
    std::filesystem::create_directories(service);
    EXPECT_EQ(group_of_jobs(service + "/pbs_server"), service + "/pbs_server") << "isn't delegated";
    const bool marks = ::setxattr(service.c_str(), "trusted.delegate", "1", 1, 0) == 0 ||
                       ::setxattr(service.c_str(), "user.delegate", "1", 1, 0) == 0;
    if (marks) {
        EXPECT_EQ(group_of_jobs(service + "/pbs_server"), service);
        EXPECT_EQ(group_of_jobs(service + "/other"), service + "/other");
        EXPECT_EQ(group_of_jobs(service), service);
    }
    std::filesystem::remove_all(service);
    if (!marks) GTEST_SKIP() << "the file system of the test has no extended attributes";
}

}  // namespace
}  // namespace pbs::host
