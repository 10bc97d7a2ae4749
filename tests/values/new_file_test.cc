#include "values/new_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "tests/file_text.h"
#include "values/temporary_folder.h"

namespace pbs::values {
namespace {

std::string text_of(const std::string& path) {
    return pbs::test::file_text(path);
}

class NewFile : public testing::Test {
  protected:
    TemporaryFolder folder_ = TemporaryFolder::make("values_test").value();
    std::string path_ = folder_.file("new");
};

TEST_F(NewFile, HasTheTextAndPermissions) {
    EXPECT_EQ(write_new_file(path_, "one\n", 0600), 0);
    EXPECT_EQ(text_of(path_), "one\n");
    EXPECT_EQ(std::filesystem::status(path_).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(write_new_file(folder_.file("empty"), "", 0600), 0);
    EXPECT_EQ(text_of(folder_.file("empty")), "");
}

TEST_F(NewFile, NeverReplacesAnother) {
    EXPECT_EQ(write_new_file(path_, "one\n", 0600), 0);
    EXPECT_EQ(write_new_file(path_, "two\n", 0600), EEXIST);
    EXPECT_EQ(text_of(path_), "one\n");
    EXPECT_EQ(write_new_file(folder_.file("no/such"), "", 0600), ENOENT);
}

TEST_F(NewFile, LeavesNoBeginning) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_EQ(write_new_file(path_, std::string(2000, 'x'), 0600), EFBIG);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace pbs::values
