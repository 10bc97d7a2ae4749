#include "objects/program_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ProgramFile : public StoreTest {
  protected:
    std::string why(const std::string& path) {
        const auto checked = check_program_file(path);
        return checked ? "" : checked.error();
    }
};

TEST_F(ProgramFile, ProgramsOfTheSystemOrOfThisUserMayBeRun) {
    EXPECT_EQ(why("/bin/sh"), "");  // /bin and sh may be links
    EXPECT_EQ(why(program("level")), "");
}

TEST_F(ProgramFile, HasToBeAnExecutableFile) {
    EXPECT_THAT(why("level"), HasSubstr("not an absolute path"));
    EXPECT_EQ(why(directory_ + "/nowhere"), directory_ + "/nowhere: No such file or directory");
    EXPECT_THAT(why(directory_), HasSubstr("is not a file"));
    EXPECT_THAT(why("/dev/null"), HasSubstr("is not a file"));
    EXPECT_THAT(why(program("data", fs::perms(0644))), HasSubstr("is not executable"));
}

TEST_F(ProgramFile, IsWritableByItsOwnerOnly) {
    EXPECT_THAT(why(program("group", fs::perms(0775))), HasSubstr("writable by others than its owner"));
    EXPECT_THAT(why(program("all", fs::perms(0757))), HasSubstr("writable by others than its owner"));
}

TEST_F(ProgramFile, DirectoriesAboveAreSafe) {
    fs::create_directory(directory_ + "/open");
    const std::string path = program("open/level");
    fs::permissions(directory_ + "/open", fs::perms(0777));
    EXPECT_EQ(why(path), "its directory " + directory_ + "/open is writable by everybody");
    fs::permissions(directory_ + "/open", fs::perms(01777));
    EXPECT_EQ(why(path), "");
    // a link in a safe directory doesn't hide that the program is in an unsafe directory
    fs::permissions(directory_ + "/open", fs::perms(0777));
    fs::create_symlink(path, directory_ + "/level");
    EXPECT_THAT(why(directory_ + "/level"), HasSubstr("open is writable by everybody"));
}

TEST_F(ProgramFile, BelongsToTheSystemOrThisUser) {
    if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    const std::string path = program("level");
    ASSERT_EQ(chown(path.c_str(), 1234, 0), 0);
    EXPECT_EQ(why(path), path + " belongs to user 1234, expected the system or the server's own user");
    fs::create_directory(directory_ + "/theirs");
    const std::string inside = program("theirs/level");
    ASSERT_EQ(chown((directory_ + "/theirs").c_str(), 1234, 0), 0);
    EXPECT_THAT(why(inside), HasSubstr("/theirs belongs to user 1234"));
    ASSERT_EQ(chown((directory_ + "/theirs").c_str(), 0, 1234), 0);
    fs::permissions(directory_ + "/theirs", fs::perms(0775));
    EXPECT_THAT(why(inside), HasSubstr("/theirs is writable by group 1234"));
}

// A program of the system must not get arguments: with them, an interpreter such as sh could do anything.
TEST_F(ProgramFile, OnlyAScriptOfTheAdministratorsMayHaveArguments) {
    const auto why_not = [](const std::string& command) {
        const auto checked = check_program_call(program_call(command));
        return checked ? std::string() : checked.error();
    };
    const std::string script = program("level");
    EXPECT_EQ(why_not(script + " -a 'b c'"), "");
    EXPECT_EQ(why_not("/bin/true"), "");
    for (const char* command : {"/bin/sh -c id", "/usr/bin/env sh", "/usr/bin/find / -exec rm {} +"})
        EXPECT_THAT(why_not(command), HasSubstr("is a program of the system, which may have no arguments"))
            << command;
    const std::string copy = directory_ + "/sh";
    fs::copy_file("/bin/sh", copy);
    EXPECT_EQ(why_not(copy), "");
    EXPECT_THAT(why_not(copy + " -c id"), HasSubstr("is not a script"));
    const std::string link = directory_ + "/link";
    fs::create_symlink("/bin/sh", link);
    EXPECT_THAT(why_not(link + " -c id"), HasSubstr("is a program of the system"));
}

TEST(ProgramCall, WordsAreSeparatedByBlanksOutsideOfQuotationMarks) {
    const ProgramCall call = program_call(R"(/opt/x  -a 'b c' d"e 'f"  "" $(id) | cat)");
    EXPECT_EQ(call.path, "/opt/x");
    EXPECT_EQ(call.arguments, (std::vector<std::string>{"-a", "b c", "de 'f", "", "$(id)", "|", "cat"}));
    EXPECT_EQ(program_call("").path, "");
}

TEST_F(ProgramFile, IsCheckedWhereAPolicyNamesIt) {
    run("c p p1");
    const std::string bad = program("group", fs::perms(0775));
    const Error error = refused(fmt::format("s p p1 server_dyn_res=\"mem !{} -a\"", bad));
    EXPECT_THAT(error.message, HasSubstr(fmt::format("policy p1: server_dyn_res: bad value 'mem !{} -a': "
                                                     "expected a program",
                                                     bad)));
    refused(fmt::format("s p p1 dedicated_time_command={}", bad));
    const std::string good = program("level");
    run(fmt::format("s p p1 server_dyn_res=\"mem !{} -a\", dedicated_time_command={}", good, good));
    // a change of another attribute doesn't check the program
    fs::remove(good);
    run("s p p1 comment=x");
    open();
    EXPECT_EQ(shown(ObjectType::policy, "p1", "dedicated_time_command"), good);
}

}  // namespace
}  // namespace pbs::objects
