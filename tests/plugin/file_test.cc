#include "server_plugin/plugin/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/file_text.h"

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;

class ReplaceFile : public ::testing::Test {
  protected:
    ReplaceFile() {
        std::string name = (fs::temp_directory_path() / "pbs-file-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        folder = name;
        path = (folder / "list").string();
    }
    ~ReplaceFile() override {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    std::string content() const { return pbs::test::file_text(path); }
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    }

    fs::path folder;
    std::string path;
};

TEST_F(ReplaceFile, GivesTheTextAndTheMode) {
    EXPECT_EQ(replace_file(path, "one\n", 0640), "");
    EXPECT_EQ(content(), "one\n");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
    EXPECT_EQ(replace_file(path, "another\n", 0600), "");
    EXPECT_EQ(content(), "another\n");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
    EXPECT_EQ(files(), 1);
    EXPECT_NE(replace_file((folder / "nothing/list").string(), "one\n", 0600), "");
}

TEST_F(ReplaceFile, KeepsTheFileIfOnlyAPartCanBeWritten) {
    ASSERT_EQ(replace_file(path, "old\n", 0600), "");
    // At the limit a write is short, and only the next one fails.
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit low = before;
    low.rlim_cur = 4096;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
    const std::string why = replace_file(path, std::string(10'000, 'x'), 0600);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(why, path + ": File too large");
    EXPECT_EQ(content(), "old\n");
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace pbs::plugin
