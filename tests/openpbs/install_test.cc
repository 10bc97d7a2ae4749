// Tests the server's start-up script as pbs_policy_install changes it, in a folder that looks like an
// installed OpenPBS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Install : public ::testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "root installs";
        if (PBS_SANITIZED != 0)
            GTEST_SKIP() << "an object with sanitizers can't be loaded by programs without them";
        std::string name = fs::temp_directory_path() / "install.XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root_ = name;
        for (const char* folder : {"sbin", "lib", "libexec", "bin", "home/server_logs", "home/sched_priv"})
            fs::create_directories(root_ / folder);
        for (const char* object : {"pbs_policy_preload.so", "pbs_policy_openpbs.so", "pbs_policy.so"})
            fs::copy(fs::path(PBS_BUILD_DIR "/bin") / object, root_ / "lib" / object);
        fs::copy(PBS_BUILD_DIR "/bin/pbs_policy_install", root_ / "bin/pbs_policy_install");
        write("libexec/pbs_init.d", "# reads limits.pbs_server\n");
        write("pbs.conf", "");
        program("sbin/pbs_server.bin", "echo ok");
        program("sbin/pbs_sched", "echo >> " + (root_ / "pbs_sched").string());
        program("bin/pbs_policyd", "echo \"$1\" >> " + (root_ / "pbs_policyd").string());
    }
    void TearDown() override { fs::remove_all(root_); }

    void write(const std::string& file, const std::string& text) const {
        std::ofstream(root_ / file) << text;
    }
    void program(const std::string& file, const std::string& line) const {
        write(file, "#!/bin/sh\n" + line + "\n");
        fs::permissions(root_ / file, fs::perms::owner_all);
    }
    std::string read(const std::string& file) const { return pbs::test::file_text(root_ / file); }
    void install(const std::string& option) const {
        const Output output = sh("bin/pbs_policy_install --openpbs --exec $PWD --library lib " + option);
        EXPECT_EQ(output.exit, 0) << output;
    }
    // Runs the installed block, as the start-up script does just before it starts the server. Returns the
    // value of LD_PRELOAD, which names the objects to preload.
    std::string preloaded() const {
        const Output output =
            sh("PBS_HOME=$PWD/home; . ./lib/init.d/limits.pbs_server; echo \"$LD_PRELOAD\"");
        EXPECT_EQ(output.exit, 0) << output;
        EXPECT_EQ(output.err, "");
        return output.out;
    }
    Output sh(const std::string& script) const {
        RunOptions options;
        options.folder = root_;
        options.environment = {{"PBS_CONF_FILE", root_ / "pbs.conf"}};
        return run({"sh", "-c", script}, options);
    }

    fs::path root_;
};

TEST_F(Install, PbsSchedGoesOnWhereTheServerIsAnotherThatCannotHaveThePlugin) {
    install("--scheduler");
    EXPECT_EQ(preloaded(), (root_ / "lib/pbs_policy_preload.so").string() + "\n");
    EXPECT_FALSE(fs::exists(root_ / "pbs_sched"));
    fs::copy(PBS_BUILD_DIR "/tests/openpbs/pbs_server.bin", root_ / "sbin/pbs_server.bin",
             fs::copy_options::overwrite_existing);
    EXPECT_EQ(preloaded(), "\n");
    EXPECT_TRUE(fs::exists(root_ / "pbs_sched")) << "pbs_sched is started";
    std::string log;
    for (const auto& entry : fs::directory_iterator(root_ / "home/server_logs"))
        log += read(entry.path().lexically_relative(root_));
    EXPECT_THAT(log, HasSubstr("the server goes on without: "));
    EXPECT_THAT(log, HasSubstr("sbin/pbs_server.bin can't have the plugin: neither this pbs_server"));
    // The server's program is replaced by one that can have the plugin. Then the plugin is preloaded again.
    program("sbin/pbs_server.bin", "echo ok");
    EXPECT_TRUE(fs::exists(root_ / "home/sched_priv/instead_of_pbs_policy"));
    EXPECT_EQ(preloaded(), (root_ / "lib/pbs_policy_preload.so").string() + "\n");
    EXPECT_FALSE(fs::exists(root_ / "home/sched_priv/instead_of_pbs_policy"));
}

// Each line is one that a server takes, and there is one for each resource that the manual has a manager
// create.
TEST_F(Install, TheResourcesOfPoliciesArePrinted) {
    const Output output = sh("bin/pbs_policy_install --openpbs --resources");
    EXPECT_EQ(output.exit, 0) << output;
    EXPECT_EQ(sh("ls lib/init.d").exit == 0, false) << "nothing is installed";
    std::istringstream lines(output.out);
    std::string line;
    std::set<std::string> names;
    while (std::getline(lines, line)) {
        EXPECT_THAT(line, ::testing::MatchesRegex(
                              "create resource [a-z_]+ type = (string|long|float)(, flag = [hr])?"));
        names.insert(line.substr(16, line.find(' ', 16) - 16));
    }
    EXPECT_THAT(
        names, ::testing::ElementsAre("chunk_order", "deadline", "job_shares", "load_avg", "override_tickets",
                                      "per_host", "prefer", "select_range", "start_within"));
    for (const char* option : {"--exec $PWD", "--library lib", "--beside", "--remove"})
        EXPECT_NE(sh(std::string("bin/pbs_policy_install --openpbs --resources ") + option).exit, 0)
            << option;
}

TEST_F(Install, ADaemonEndsWhenThePluginIsNoMoreBesideTheServer) {
    install("--beside");
    preloaded();
    EXPECT_EQ(read("pbs_policyd"), "--daemon\n");
    install("");
    EXPECT_EQ(read("pbs_policyd"), "--daemon\n") << "the server that runs needs it yet";
    install("");
    preloaded();
    EXPECT_EQ(read("pbs_policyd"), "--daemon\n--stop\n");
    EXPECT_EQ(sh("bin/pbs_policy_install --openpbs --exec $PWD --remove").exit, 0);
    EXPECT_EQ(read("pbs_policyd"), "--daemon\n--stop\n--stop\n");
}

}  // namespace
}  // namespace pbs::e2e
