#include "server_plugin/host/base/posix.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/file_text.h"

namespace pbs::host {
namespace {
namespace fs = std::filesystem;

class Posix : public testing::Test {
  protected:
    Posix() {
        std::string name = (fs::temp_directory_path() / "pbs-posix-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
    }
    ~Posix() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string path(const char* name) const { return folder_ + "/" + name; }
    void write(const char* name, const char* text) const { std::ofstream(path(name)) << text; }
    std::string content(const char* name) const { return pbs::test::file_text(path(name)); }

    std::string folder_;
};

TEST_F(Posix, RenameNewReplacesNoFile) {
    write("a", "one");
    write("b", "two");
    EXPECT_FALSE(rename_new(path("a"), path("b")));
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(content("b"), "two");
    EXPECT_TRUE(rename_new(path("a"), path("c")));
    EXPECT_EQ(content("c"), "one");
    EXPECT_FALSE(rename_new(path("a"), path("d")));
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(Posix, MakeDirectoryGivesTheModeInSpiteOfTheUmask) {
    const mode_t before = ::umask(077);
    const bool made = make_directory(path("d"), 0755);
    ::umask(before);
    EXPECT_TRUE(made);
    EXPECT_EQ(fs::status(path("d")).permissions(), fs::perms(0755));
    EXPECT_FALSE(make_directory(path("d"), 0700));
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(fs::status(path("d")).permissions(), fs::perms(0755));
}

}  // namespace
}  // namespace pbs::host
