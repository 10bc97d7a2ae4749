#include "server_plugin/plugin/spool_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace pbs::plugin {
namespace {
namespace fs = std::filesystem;
using ::testing::StartsWith;

struct Spool : testing::Test {
    fs::path folder = [] {
        std::string name = (fs::temp_directory_path() / "pbs-spool-XXXXXX").string();
        return fs::path(mkdtemp(name.data()));
    }();
    ~Spool() override { fs::remove_all(folder); }
};

TEST_F(Spool, HasNoNameAndGivesPartsOfWhatWasWritten) {
    SpoolFile file(folder);
    file.append("first\n");
    file.append("second\n");
    EXPECT_EQ(file.error(), "");
    EXPECT_EQ(file.size(), 13);
    EXPECT_TRUE(fs::is_empty(folder));
    EXPECT_EQ(file.part(0, 8), "first\nse");
    EXPECT_EQ(file.part(8, 100), "cond\n");
    EXPECT_EQ(file.part(13, 100), "");
    EXPECT_EQ(file.part(1000, 100), "");
}

TEST_F(Spool, ShrinksToNothing) {
    SpoolFile file(folder);
    EXPECT_FALSE(file.shrink()) << "nothing was written";
    const std::string megabyte(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 40; ++i) file.append(megabyte);
    int more = 0;
    while (file.shrink()) ++more;
    EXPECT_EQ(more, 2);
    EXPECT_EQ(file.size(), 0);
    EXPECT_EQ(file.part(0, 10), "");
}

TEST_F(Spool, AFolderThatIsNotThere) {
    SpoolFile file(folder / "gone");
    file.append("text");
    file.append("more");
    EXPECT_THAT(file.error(), StartsWith((folder / "gone").string() + ": No such file or directory"));
    EXPECT_EQ(file.size(), 0);
}

}  // namespace
}  // namespace pbs::plugin
