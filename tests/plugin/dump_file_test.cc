#include "server_plugin/plugin/dump_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

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
    }
    ~DumpFile() override {
        std::error_code ignored;
        fs::remove_all(home, ignored);
    }
    std::string dump(const std::string& path, std::string_view text,
                     const std::string& sched_priv = {}) const {
        return write_dump_file({home.string(), sched_priv, path}, text);
    }
    static std::string content(const fs::path& file) {
        std::ostringstream out;
        out << std::ifstream(file).rdbuf();
        return out.str();
    }
    static mode_t mode(const fs::path& file) {
        struct stat info {};
        return stat(file.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
    }

    fs::path home;
};

TEST_F(DumpFile, IsMadeForItsOwnerOnly) {
    EXPECT_EQ(dump("sortedjobs", "1\n2\n"), "");
    EXPECT_EQ(content(home / "sched_priv/sortedjobs"), "1\n2\n");
    EXPECT_EQ(mode(home / "sched_priv/sortedjobs"), 0600u);
}

TEST_F(DumpFile, IsOverwrittenAndKeepsItsPermissions) {
    std::ofstream(home / "sched_priv/sortedjobs") << "something longer than what follows";
    fs::permissions(home / "sched_priv/sortedjobs", fs::perms(0644));
    EXPECT_EQ(dump("sortedjobs", "1\n"), "");
    EXPECT_EQ(content(home / "sched_priv/sortedjobs"), "1\n");
    EXPECT_EQ(mode(home / "sched_priv/sortedjobs"), 0644u);
}

TEST_F(DumpFile, MayLieInTheFolderOfAnotherSched) {
    fs::create_directories(home / "sched_priv_big");
    EXPECT_EQ(dump("jobs", "x", (home / "sched_priv_big").string()), "");
    EXPECT_EQ(dump((home / "sched_priv_big/absolute").string(), "x"), "");
    EXPECT_TRUE(fs::exists(home / "sched_priv_big/absolute"));
}

TEST_F(DumpFile, NothingElseIsWritten) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    for (const std::string& path :
         {(home / "server_priv/policy.db").string(), std::string("../server_priv/policy.db"),
          std::string("/etc/pbs-dump-test"), std::string("/sched_priv")}) {
        EXPECT_THAT(dump(path, "gone"), HasSubstr("is not below")) << path;
    }
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");
}

TEST_F(DumpFile, LinksLeadNowhere) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    fs::create_symlink(home / "server_priv/policy.db", home / "sched_priv/link");
    fs::create_directory_symlink(home / "server_priv", home / "sched_priv/folder");
    EXPECT_NE(dump("link", "gone"), "");
    EXPECT_THAT(dump("folder/policy.db", "gone"), HasSubstr("is not below"));
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");
}

TEST_F(DumpFile, AppendsAndBeginsAnewWhereTheFileWasMovedAway) {
    const DumpTarget target{home.string(), {}, "schedule"};
    EXPECT_EQ(append_dump_file(target, "1\n"), "");
    EXPECT_EQ(append_dump_file(target, "2\n"), "");
    EXPECT_EQ(content(home / "sched_priv/schedule"), "1\n2\n");
    EXPECT_EQ(mode(home / "sched_priv/schedule"), 0600u);
    fs::rename(home / "sched_priv/schedule", home / "sched_priv/schedule.1");
    EXPECT_EQ(append_dump_file(target, "3\n"), "");
    EXPECT_EQ(content(home / "sched_priv/schedule"), "3\n");
    EXPECT_EQ(content(home / "sched_priv/schedule.1"), "1\n2\n");
}

TEST_F(DumpFile, AppendsThroughNoLink) {
    std::ofstream(home / "server_priv/policy.db") << "precious";
    fs::create_symlink(home / "server_priv/policy.db", home / "sched_priv/link");
    EXPECT_NE(append_dump_file({home.string(), {}, "link"}, "x"), "");
    EXPECT_EQ(content(home / "server_priv/policy.db"), "precious");
}

TEST_F(DumpFile, OnlyARegularFile) {
    ASSERT_EQ(mkfifo((home / "sched_priv/pipe").c_str(), 0600), 0);
    EXPECT_NE(dump("pipe", "x"), "");
    EXPECT_NE(dump(".", "x"), "");
    EXPECT_NE(dump("missing/file", "x"), "");
}

}  // namespace
}  // namespace pbs::plugin
