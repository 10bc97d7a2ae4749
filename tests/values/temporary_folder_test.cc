#include "values/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pbs::values {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TemporaryFolder, IsRemovedWithItsFiles) {
    std::string path;
    {
        auto folder = TemporaryFolder::make("values_test");
        ASSERT_TRUE(folder) << folder.error();
        path = folder->path();
        EXPECT_THAT(fs::path(path).filename(), StartsWith("values_test."));
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        std::ofstream(folder->file("one")) << "text";
        EXPECT_TRUE(fs::exists(path + "/one"));
        const TemporaryFolder moved(*std::move(folder));
        folder = tl::unexpected<std::string>("");
        EXPECT_EQ(moved.path(), path);
        EXPECT_TRUE(fs::exists(path + "/one"));
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, AnErrorNamesTheFolder) {
    const auto folder = TemporaryFolder::make("no/such/folder");
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error(), HasSubstr("/no/such/folder.XXXXXX: No such file or directory"));
}

}  // namespace
}  // namespace pbs::values
