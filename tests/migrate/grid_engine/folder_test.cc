#include "migrate/grid_engine/folder.h"

#include <filesystem>

#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(GridFolder, IsReadFileByFile) {
    const Folder folder;
    folder.write("ge/ssconf", "maxujobs 3\n");
    folder.write("ge/scal/night", "calendar_name night\nyear NONE\nweek off\n");
    folder.write("ge/scal/deep/er", "x\n");
    folder.write("ge/notes.txt", "x\n");
    const auto text = grid_engine::read_folder(folder.path("ge"));
    ASSERT_TRUE(text) << text.error();
    const auto files = grid_engine::parse_folder(*text, "ge");
    ASSERT_TRUE(files) << testing::PrintToString(texts(files.error()));
    ASSERT_NE(files->find("ssconf"), nullptr);
    ASSERT_NE(files->find("scal", "night"), nullptr);
    EXPECT_EQ(files->find("scal", "night")->lines.size(), 3U);
    EXPECT_EQ(files->find("srqs"), nullptr);
    EXPECT_THAT(files->notes,
                ElementsAre("ge/notes.txt: is left out: it isn't one of the files that are read",
                            "ge/scal/deep: is left out: it isn't one of the files that are read"));
    EXPECT_THAT(grid_engine::read_folder(folder.path("none")).error(), HasSubstr("can't be read"));
}

TEST(GridFolder, WithoutAnyFileOfGridEngineIsRefused) {
    const Folder folder;
    folder.write("ge/notes.txt", "x\n");
    EXPECT_THAT(
        texts(grid_engine::parse_folder(*grid_engine::read_folder(folder.path("ge")), "ge").error()),
        ElementsAre(
            "ge: has no file that is read, expected ssconf, sconf, srqs, sstree, sc or files in scal, "
            "sq, shgrp, su, suser, sprj"));
    EXPECT_THAT(
        texts(grid_engine::parse_folder("ssconf 100\nshort\n", "ge").error()),
        ElementsAre("ge: 'ssconf 100' is no file of a folder of Grid Engine, expected its name and size"));
}

TEST(GridFolder, LinesGoOnAfterABackslash) {
    const auto files = grid_engine::parse_folder("ssconf 23\n# c\na 1 \\\n  2\n\nb \\\r\n c\n", "ge");
    ASSERT_TRUE(files);
    const auto& lines = files->files[0].lines;
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].text, "a 1    2");
    EXPECT_EQ(lines[0].number(), 2);
    EXPECT_EQ(lines[0].last(), 3);
    EXPECT_EQ(grid_engine::field_of(lines[1]).name, "b");
    EXPECT_EQ(grid_engine::field_of(lines[1]).value, "c");
    const auto value = grid_engine::field_of(lines[1]).value;
    EXPECT_EQ(to_text(grid_engine::problem_at(files->files[0], lines[1], value, "b", "is wrong")),
              "ge/ssconf:6:2: b: is wrong");
}

TEST(GridFolder, FilesThatCantBeReadAreTold) {
    const Folder folder;
    folder.write("ge/ssconf", "maxujobs 3\n");
    folder.write("elsewhere/ann", "name ann\nfshare 3\n");
    std::filesystem::create_directory_symlink(folder.path("elsewhere"), folder.path("ge/suser"));
    std::filesystem::create_symlink(folder.path("nothing"), folder.path("ge/sc"));
    const auto text = grid_engine::read_folder(folder.path("ge"));
    ASSERT_TRUE(text) << text.error();
    EXPECT_THAT(grid_engine::parse_folder(*text, "ge")->notes,
                ElementsAre("ge/sc: is left out: it isn't one of the files that are read",
                            "ge/suser: is left out: it isn't one of the files that are read"));
    folder.write("ge/two\nlines", "x\n");
    EXPECT_EQ(grid_engine::read_folder(folder.path("ge")).error(),
              "'two?lines' has a newline in its name, expected none");
}

TEST(GridFolder, AFolderOfMoreThanSixteenMegabytesIsRefusedUnread) {
    const Folder folder;
    folder.write("ge/ssconf", "maxujobs 3\n");
    std::filesystem::resize_file(folder.path("ge/ssconf"), std::uintmax_t{1} << 40U);
    EXPECT_EQ(grid_engine::read_folder(folder.path("ge")).error(),
              "is too large, expected at most 16777216 bytes");
}

TEST(GridFolder, TheWordsOfQconfForNothingAreNoLine) {
    EXPECT_THAT(grid_notes({{"ssconf", "no scheduler\nmaxujobs 0\n"}}),
                testing::Contains(HasSubstr("ge/ssconf:1: no: left out: ")));
    EXPECT_THAT(
        grid_notes({{"srqs", "no resource quota set defined\n"}, {"sstree", "no sharetree element\n"}}),
        IsEmpty());
}

}  // namespace
}  // namespace pbs::migrate::test
