#include "server_plugin/plugin/dump_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/file_text.h"

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DumpFile : public ::testing::Test {
  protected:
    DumpFile() {
        std::string name = (fs::temp_directory_path() / "pbs-dump-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        home = name;
        fs::create_directories(home / "sched_priv");
        fs::create_directories(home / "server_priv");
        output = home / "sched_priv/output";
    }
    ~DumpFile() override {
        std::error_code ignored;
        fs::remove_all(home, ignored);
    }
    std::string dump(const std::string& name, std::string_view text,
                     const std::string& sched_priv = {}) const {
        return write_dump_file({home.string(), sched_priv, name}, text);
    }
    static std::string content(const fs::path& file) { return pbs::test::file_text(file); }
    static mode_t mode(const fs::path& file) {
        struct stat info {};
        return stat(file.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
    }

    fs::path home;
    fs::path output;
};

TEST_F(DumpFile, IsMadeForItsOwnerOnlyInAFolderOfItsOwn) {
    EXPECT_EQ(dump("sortedjobs", "1\n2\n"), "");
    EXPECT_EQ(content(output / "sortedjobs"), "1\n2\n");
    EXPECT_EQ(mode(output / "sortedjobs"), 0600u);
    EXPECT_EQ(mode(output) & 0027, 0u);
}

TEST_F(DumpFile, IsOverwrittenAndKeepsItsPermissions) {
    EXPECT_EQ(dump("sortedjobs", "something longer than what follows"), "");
    fs::permissions(output / "sortedjobs", fs::perms(0644));
    EXPECT_EQ(dump("sortedjobs", "1\n"), "");
    EXPECT_EQ(content(output / "sortedjobs"), "1\n");
    EXPECT_EQ(mode(output / "sortedjobs"), 0644u);
}

TEST_F(DumpFile, EachSchedHasAFolder) {
    fs::create_directories(home / "sched_priv_big");
    EXPECT_EQ(dump("jobs", "x", (home / "sched_priv_big").string()), "");
    EXPECT_TRUE(fs::exists(home / "sched_priv_big/output/jobs"));
}

TEST_F(DumpFile, ANameIsAllThatIsChosen) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    for (const std::string& name :
         {(home / "server_priv/policy.db").string(), std::string("../server_priv/policy.db"),
          std::string("/etc/pbs-dump-test"), std::string("../hpm_ctl"), std::string("a/b"), std::string("."),
          std::string(".."), std::string(".made_by_scheduler"), std::string("decay_usage"), std::string()}) {
        EXPECT_THAT(dump(name, "gone"), HasSubstr("expected")) << name;
        EXPECT_THAT(append_dump_file({home.string(), {}, name}, "gone"), HasSubstr("expected")) << name;
    }
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");
}

// sched_priv has programs that run as root, and files that root has written. The plugin never overwrites
// these.
TEST_F(DumpFile, FilesOfSchedPrivStay) {
    for (const char* name : {"hpm_ctl", "holidays", "sched_config"}) {
        std::ofstream(home / "sched_priv" / name) << "precious";
        EXPECT_EQ(dump(name, "list"), "");
        EXPECT_EQ(content(home / "sched_priv" / name), "precious");
        EXPECT_EQ(content(output / name), "list");
    }
}

TEST_F(DumpFile, OnlyBelowASchedPrivOfTheHome) {
    fs::create_directories(home / "elsewhere/output");
    for (const char* folder : {"elsewhere", "server_priv", "."})
        EXPECT_THAT(dump("jobs", "x", (home / folder).string()), HasSubstr("is not below")) << folder;
    EXPECT_THAT(dump("jobs", "x", "/etc"), HasSubstr("is not below"));
    EXPECT_FALSE(fs::exists(home / "elsewhere/output/jobs"));
    EXPECT_FALSE(fs::exists(home / "server_priv/output"));
}

TEST_F(DumpFile, SymbolicLinksLeadNowhere) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    EXPECT_EQ(dump("jobs", "x"), "");
    fs::create_symlink(home / "server_priv/policy.db", output / "link");
    EXPECT_NE(dump("link", "gone"), "");
    EXPECT_NE(append_dump_file({home.string(), {}, "link"}, "gone"), "");
    fs::create_directory_symlink(home / "server_priv", home / "sched_priv_linked");
    EXPECT_THAT(dump("policy.db", "gone", (home / "sched_priv_linked").string()), HasSubstr("is not below"));
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");

    fs::create_directories(home / "sched_priv_2");
    fs::create_directories(home / "sched_priv_2/of_root");
    std::ofstream(home / "sched_priv_2/of_root/jobs") << "precious";
    fs::create_directory_symlink(home / "sched_priv_2/of_root", home / "sched_priv_2/output");
    EXPECT_NE(dump("jobs", "gone", (home / "sched_priv_2").string()), "");
    EXPECT_EQ(content(home / "sched_priv_2/of_root/jobs"), "precious");
}

TEST_F(DumpFile, HardLinksLeadNowhere) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    EXPECT_EQ(dump("jobs", "x"), "");
    fs::create_hard_link(home / "server_priv/policy.db", output / "link");
    EXPECT_THAT(dump("link", "gone"), HasSubstr("has another name (a hard link)"));
    EXPECT_THAT(append_dump_file({home.string(), {}, "link"}, "x"), HasSubstr("hard link"));
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");
}

TEST_F(DumpFile, AFolderThatTheSchedulerDidNotMakeIsLeftAlone) {
    fs::create_directories(output);
    std::ofstream(output / "jobs") << "precious";
    EXPECT_THAT(dump("jobs", "gone"), HasSubstr("was not made by the scheduler"));
    EXPECT_EQ(content(output / "jobs"), "precious");
    fs::remove(output / "jobs");
    EXPECT_EQ(dump("jobs", "x"), "") << "empty: as after a crash between its making and its mark";
    fs::permissions(output, fs::perms(0777));
    EXPECT_THAT(dump("jobs", "gone"), HasSubstr("can be written by others"));
    EXPECT_EQ(content(output / "jobs"), "x");
}

TEST_F(DumpFile, AFileOfAnotherUserIsLeftAlone) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    EXPECT_EQ(dump("jobs", "x"), "");
    ASSERT_EQ(chown((output / "jobs").c_str(), 65534, 65534), 0);
    EXPECT_THAT(dump("jobs", "gone"), HasSubstr("belongs to user 65534"));
    ASSERT_EQ(chown(output.c_str(), 65534, 65534), 0);
    EXPECT_THAT(dump("new", "gone"), HasSubstr("belongs to user 65534"));
    EXPECT_EQ(content(output / "jobs"), "x");
    EXPECT_FALSE(fs::exists(output / "new"));
}

TEST_F(DumpFile, AppendsAndBeginsAnewWhereTheFileWasMovedAway) {
    const DumpTarget target{home.string(), {}, "schedule"};
    EXPECT_EQ(append_dump_file(target, "1\n"), "");
    EXPECT_EQ(append_dump_file(target, "2\n"), "");
    EXPECT_EQ(content(output / "schedule"), "1\n2\n");
    EXPECT_EQ(mode(output / "schedule"), 0600u);
    fs::rename(output / "schedule", output / "schedule.1");
    EXPECT_EQ(append_dump_file(target, "3\n"), "");
    EXPECT_EQ(content(output / "schedule"), "3\n");
    EXPECT_EQ(content(output / "schedule.1"), "1\n2\n");
}

TEST_F(DumpFile, OnlyARegularFile) {
    EXPECT_EQ(dump("jobs", "x"), "");
    ASSERT_EQ(mkfifo((output / "pipe").c_str(), 0600), 0);
    fs::create_directories(output / "folder");
    EXPECT_NE(dump("pipe", "x"), "");
    EXPECT_NE(dump("folder", "x"), "");
}

TEST_F(DumpFile, PastUsageHasItsOwn) {
    std::ofstream(home / "sched_priv/decay_usage") << "of the Origin scheduler";
    EXPECT_EQ(write_usage_dump(home.string(), {}, "Mon\n"), "");
    EXPECT_EQ(content(output / "decay_usage"), "Mon\n");
    EXPECT_EQ(content(home / "sched_priv/decay_usage"), "of the Origin scheduler");
}

}  // namespace
}  // namespace pbs::plugin
