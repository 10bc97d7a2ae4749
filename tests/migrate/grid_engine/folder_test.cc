#include "migrate/grid_engine/folder.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(GridFolder, IsReadFileByFile) {
    const Folder folder;
    folder.write("ge/ssconf", "maxujobs 3\n");
    folder.write("ge/scal/night", "calendar_name night\nyear NONE\nweek off\n");
    folder.write("ge/notes.txt", "x\n");
    folder.write("ge/old/ssconf", "maxujobs 4\n");
    const auto text = grid_engine::read_folder(folder.path("ge"));
    ASSERT_TRUE(text) << testing::PrintToString(texts(text.error()));
    const auto files = grid_engine::parse_folder(*text, "ge");
    ASSERT_TRUE(files) << testing::PrintToString(texts(files.error()));
    ASSERT_NE(files->find("ssconf"), nullptr);
    ASSERT_NE(files->find("scal", "night"), nullptr);
    EXPECT_EQ(files->find("scal", "night")->lines.size(), 3U);
    EXPECT_EQ(files->find("srqs"), nullptr);
    EXPECT_THAT(files->notes,
                ElementsAre("ge/notes.txt: is left out: it isn't one of the files that are read",
                            "ge/old: is left out: it isn't one of the files that are read"));
    EXPECT_THAT(texts(grid_engine::read_folder(folder.path("none")).error()),
                ElementsAre(folder.path("none") + ": can't be read: No such file or directory"));
}

TEST(GridFolder, WithoutAnyFileOfGridEngineIsRefused) {
    const Folder folder;
    folder.write("ge/notes.txt", "x\n");
    EXPECT_THAT(
        texts(grid_engine::parse_folder(*grid_engine::read_folder(folder.path("ge")), "ge").error()),
        ElementsAre(
            "ge: has no file that is read, expected ssconf, sconf, srqs, sstree, sc or files in scal, "
            "sq, sp, shgrp, su, suser, sprj"));
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

// An entry that can't be read must not look like a site without it, whose earlier objects would be taken
// back.
TEST(GridFolder, EntriesOfKnownNamesThatCantBeReadAreMistakes) {
    const Folder folder;
    const std::string ge = folder.path("ge");
    folder.write("ge/ssconf", "maxujobs 3\n");
    folder.write("ge/sq", "qname all.q\n");
    folder.write("ge/scal/deep/er", "x\n");
    folder.write("ge/srqs/limits", "x\n");
    std::filesystem::create_directories(folder.path("ge/suser"));
    std::filesystem::create_symlink(folder.path("nothing"), folder.path("ge/sc"));
    std::filesystem::create_symlink("sstree", folder.path("ge/sstree"));
    std::filesystem::create_symlink("/dev/zero", folder.path("ge/sconf"));
    std::filesystem::create_symlink(folder.path("nothing"), folder.path("ge/sprj"));
    ASSERT_EQ(::mkfifo(folder.path("ge/suser/ann").c_str(), 0600), 0);
    const auto text = grid_engine::read_folder(ge);
    ASSERT_FALSE(text);
    EXPECT_THAT(texts(text.error()),
                testing::UnorderedElementsAre(
                    ge + "/sc: can't be read: No such file or directory",
                    ge + "/sstree: can't be read: Too many levels of symbolic links",
                    ge + "/sconf: is a device, expected a file", ge + "/srqs: is a folder, expected a file",
                    ge + "/sq: can't be read: Not a directory",
                    ge + "/sprj: can't be read: No such file or directory",
                    ge + "/scal/deep: is a folder, expected a file",
                    ge + "/suser/ann: is a named pipe, expected a file"));
    // An earlier pbs_migrate sent such entries to a server as ones that aren't read.
    EXPECT_THAT(
        texts(grid_engine::parse_folder("ssconf 2\nx\nsrqs -\n", "ge").error()),
        ElementsAre("ge: 'srqs -' is no file of a folder of Grid Engine, expected its name and size"));
}

TEST(GridFolder, ANewlineInANameIsRefused) {
    const Folder folder;
    folder.write("ge/two\nlines", "x\n");
    EXPECT_THAT(texts(grid_engine::read_folder(folder.path("ge")).error()),
                ElementsAre(folder.path("ge") + ": 'two?lines' has a newline in its name, expected none"));
}

TEST(GridFolder, LinksToFilesAndFoldersAreFollowed) {
    const Folder folder;
    folder.write("elsewhere/ann", "name ann\nfshare 3\n");
    std::filesystem::create_directories(folder.path("ge"));
    std::filesystem::create_directory_symlink(folder.path("elsewhere"), folder.path("ge/suser"));
    std::filesystem::create_symlink(folder.path("elsewhere/ann"), folder.path("ge/suser/bob"));
    EXPECT_EQ(*grid_engine::read_folder(folder.path("ge")),
              "suser/ann 18\nname ann\nfshare 3\nsuser/bob 18\nname ann\nfshare 3\n");
}

TEST(GridFolder, FilesOfEditorsAreTold) {
    const Folder folder;
    folder.write("ge/suser/ann", "name ann\nfshare 3\n");
    for (const char* name : {"suser/ann~", "sq/.long.swp", "scal/#night#"})
        folder.write(std::string("ge/") + name, "x\n");
    const auto text = grid_engine::read_folder(folder.path("ge"));
    ASSERT_TRUE(text) << testing::PrintToString(texts(text.error()));
    const auto files = grid_engine::parse_folder(*text, "ge");
    ASSERT_TRUE(files) << testing::PrintToString(texts(files.error()));
    EXPECT_EQ(files->files.size(), 1U);
    EXPECT_THAT(files->notes,
                ElementsAre("ge/scal/#night#: is left out: it isn't one of the files that are read",
                            "ge/sq/.long.swp: is left out: it isn't one of the files that are read",
                            "ge/suser/ann~: is left out: it isn't one of the files that are read"));
}

TEST(GridFolder, AFolderOfMoreThanSixteenMegabytesIsRefusedUnread) {
    const Folder folder;
    folder.write("ge/ssconf", "maxujobs 3\n");
    std::filesystem::resize_file(folder.path("ge/ssconf"), std::uintmax_t{1} << 40U);
    EXPECT_THAT(texts(grid_engine::read_folder(folder.path("ge")).error()),
                ElementsAre(folder.path("ge/ssconf") + ": is too large, expected at most 16777216 bytes"));
}

TEST(GridFolder, TheWordsOfQconfForNothingAreNoLine) {
    EXPECT_THAT(
        grid_notes({{"srqs", "no resource quota set defined\n"}, {"sstree", "no sharetree element\n"}}),
        IsEmpty());
}

TEST(GridFolder, TheWordsForNothingCountOnlyWhereThereCanBeNothing) {
    EXPECT_THAT(grid_problems({{"sc", "no calendar defined\n"}}), Not(IsEmpty()));
    EXPECT_THAT(grid_problems({{"ssconf", "no scheduler\n"}}), IsEmpty()) << "an unknown setting is told";
    EXPECT_THAT(grid_notes({{"ssconf", "no scheduler\n"}}),
                testing::Contains(HasSubstr("ge/ssconf:1: no: left out: ")));
    EXPECT_THAT(grid_problems({{"srqs", "no calendar defined\n"}}), Not(IsEmpty()));
}

// A run of qconf that fails must not look like a site without a configuration: everything that an earlier
// migration made would be taken back.
TEST(GridFolder, AFileWithoutTheWholeOutputIsRefused) {
    for (const char* kind : {"ssconf", "sconf", "srqs", "sstree", "sc", "sq/a", "scal/a", "shgrp/@a", "su/a",
                             "suser/a", "sprj/a"}) {
        for (const char* text : {"", "\n", "# nothing\n"})
            EXPECT_THAT(
                texts(
                    parse(LegacyTexts{.grid_engine = LegacyText{"ge", fmt::format("{} {}\n{}", kind,
                                                                                  std::strlen(text), text)}})
                        .error()),
                ElementsAre(fmt::format("ge/{}:1:1: has no lines, expected the output of qconf, error "
                                        "messages included (2>&1), or no such file",
                                        kind)));
        for (const char* text :
             {"error: commlib error: got select error (Connection refused)\n",
              "denied: host \"n1\" is neither submit nor admin host\n", "critical error: no qmaster\n"})
            EXPECT_THAT(grid_problems({{kind, text}}),
                        ElementsAre(AllOf(HasSubstr(fmt::format("ge/{}:1:1: '", kind)),
                                          HasSubstr("is an error message, expected the output of qconf"))));
        EXPECT_THAT(
            texts(
                parse(LegacyTexts{.grid_engine = LegacyText{"ge", fmt::format("{} 3\na b", kind)}}).error()),
            ElementsAre(fmt::format("ge/{}:1:1: the last line has no end, so that lines may be missing: "
                                    "expected the whole output of qconf",
                                    kind)));
    }
}

TEST(GridFolder, SettingsThatQconfAlwaysPrintsAreExpected) {
    const auto told = [](const std::string& file, const std::string& text) {
        return texts(parse(LegacyTexts{.grid_engine = LegacyText{"ge", fmt::format("{} {}\n{}", file,
                                                                                   text.size(), text)}})
                         .error());
    };
    EXPECT_THAT(
        told("ssconf", "algorithm default\nmaxujobs 3\n"),
        ElementsAre("ge/ssconf:2:1: no line has default_duration, expected the whole output of qconf"));
    EXPECT_THAT(told("ssconf", "default_duration INFINITY\n"),
                ElementsAre("ge/ssconf:1:1: no line has algorithm, expected the whole output of qconf"));
    EXPECT_THAT(
        told("sconf", "enforce_user auto\n"),
        ElementsAre("ge/sconf:1:1: no line has auto_user_fshare, expected the whole output of qconf"));
    EXPECT_THAT(told("sconf", "auto_user_fshare 0\n"),
                ElementsAre("ge/sconf:1:1: no line has enforce_user, expected the whole output of qconf"));
}

}  // namespace
}  // namespace pbs::migrate::test
