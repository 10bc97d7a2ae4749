#include "sqlite/trusted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pbs::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::Optional;

class TrustedTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "trusted." + std::to_string(::getpid());
        fs::remove_all(folder_);
        fs::create_directory(folder_);
        path_ = folder_ + "/some.db";
        make(path_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    static void make(const std::string& path) {
        std::ofstream(path) << "x";
        ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    }
    std::string folder_;
    std::string path_;
};

TEST_F(TrustedTest, ItsOwnFilesAndNoneAreAllRight) {
    EXPECT_EQ(untrusted(path_), std::nullopt);
    EXPECT_EQ(untrusted(folder_ + "/other.db"), std::nullopt);
    ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
    EXPECT_EQ(untrusted(path_), std::nullopt) << "who may read it is the site's to say";
}

TEST_F(TrustedTest, OthersMayNotWriteAnyOfTheFiles) {
    for (const char* end : {"", "-wal", "-shm", "-journal", "-mark"}) {
        const std::string path = path_ + end;
        make(path);
        for (const mode_t mode : {0620, 0602}) {
            ASSERT_EQ(::chmod(path.c_str(), mode), 0);
            EXPECT_THAT(untrusted(path_), Optional(path + " may be written by others than its owner (mode " +
                                                   (mode == 0620 ? "0620" : "0602") + "), expected 0600"));
        }
        fs::remove(path);
        fs::create_symlink("/etc/passwd", path);
        EXPECT_THAT(untrusted(path_), Optional(path + " is a symbolic link, expected the file itself"));
        fs::remove(path);
        fs::create_directory(path);
        EXPECT_THAT(untrusted(path_), Optional(path + " is not a regular file"));
        fs::remove(path);
    }
}

TEST_F(TrustedTest, ATrustedFileBelongsToRootTheUserOrTheFoldersOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
    EXPECT_THAT(untrusted(path_), Optional(path_ + " belongs to uid 65534, expected root or uid 0"));
    // root may check the home of a server that runs as another user
    ASSERT_EQ(::chown(folder_.c_str(), 65534, 65534), 0);
    EXPECT_EQ(untrusted(path_), std::nullopt);
}

}  // namespace
}  // namespace pbs::sqlite
