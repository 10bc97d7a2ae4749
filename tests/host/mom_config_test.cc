#include "server_plugin/host/base/mom_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pbs::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(MomConfigText, EnforcesWhatItNames) {
    const auto config = parse_mom_config("# site\n\n  $enforce mem\r\n$enforce\tvmem 1", "config");
    EXPECT_TRUE(config.enforce_mem);
    EXPECT_TRUE(config.enforce_vmem);
    EXPECT_THAT(config.notes, IsEmpty());
    EXPECT_FALSE(parse_mom_config("$enforce mem\n$enforce !mem\n", "config").enforce_mem);
    EXPECT_FALSE(parse_mom_config("", "config").enforce_mem);
    EXPECT_TRUE(parse_mom_config("", "config").login_shell);
}

TEST(MomConfigText, TurnsLoginShellsOffAndOn) {
    const auto login_shell = [](const std::string& word, const std::string& before = {}) {
        const auto config = parse_mom_config(before + "$source_login_batch " + word + "\n", "config");
        EXPECT_THAT(config.notes, IsEmpty()) << word;
        return config.login_shell;
    };
    EXPECT_TRUE(parse_mom_config("", "config").login_shell);
    for (const char* off : {"false", "False", "f", "no", "N", "off", "0"})
        EXPECT_FALSE(login_shell(off)) << off;
    for (const char* on : {"true", "TRUE", "t", "yes", "y", "On", "1"})
        EXPECT_TRUE(login_shell(on, "$source_login_batch 0\n")) << on;
    for (const char* wrong : {"", "2", "00", "nope", "o"}) {
        const auto config = parse_mom_config(std::string("$source_login_batch ") + wrong, "config");
        EXPECT_TRUE(config.login_shell) << wrong;
        EXPECT_THAT(config.notes,
                    ElementsAre("config line 1: expected $source_login_batch and true or false"));
    }
}

TEST(MomConfigText, LimitsTheLoad) {
    const auto config = parse_mom_config("$max_load 8.5\n$ideal_load\t6\n", "config");
    EXPECT_EQ(config.load.max, 8500);
    EXPECT_EQ(config.load.ideal, 6000);
    EXPECT_THAT(config.notes, IsEmpty());
    EXPECT_EQ(parse_mom_config("", "config").load.max, -1);
    for (const char* wrong : {"", "0", "-1", "much", "8x", "nan", "inf", "1e300", "0.0001"}) {
        const auto none = parse_mom_config(std::string("$max_load ") + wrong, "config");
        EXPECT_EQ(none.load.max, -1) << wrong;
        EXPECT_THAT(none.notes, ElementsAre("config line 1: expected $max_load and a load average above 0"));
    }
}

TEST(MomConfigText, SaysWhatIsNotActedOn) {
    const auto config =
        parse_mom_config("$clienthost h\n$enforce mem\n$enforce cpuaverage\n$enforce\nmem\n", "config");
    EXPECT_TRUE(config.enforce_mem);
    EXPECT_THAT(config.notes,
                ElementsAre(HasSubstr("config line 1: \"$clienthost h\" has no effect"),
                            HasSubstr("config line 3: \"$enforce cpuaverage\" has no effect"),
                            HasSubstr("config line 4: \"$enforce\""), HasSubstr("config line 5: \"mem\"")));
}

TEST(MomConfigFile, IsReadIfOnlyTheServerCanWriteIt) {
    const std::string home = testing::TempDir() + "mom_config." + std::to_string(::getpid());
    const std::string file = home + "/mom_priv/config";
    std::filesystem::create_directories(home + "/mom_priv");
    EXPECT_FALSE(read_mom_config(home).enforce_mem);
    EXPECT_THAT(read_mom_config(home).notes, IsEmpty());
    std::ofstream(file) << "$enforce mem\n";
    ::chmod(file.c_str(), 0644);
    EXPECT_TRUE(read_mom_config(home).enforce_mem);
    ::chmod(file.c_str(), 0666);
    EXPECT_FALSE(read_mom_config(home).enforce_mem);
    EXPECT_THAT(read_mom_config(home).notes, ElementsAre(HasSubstr("may write it")));
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    EXPECT_THAT(read_mom_config(home).notes, ElementsAre(HasSubstr("is not read")));
    std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace pbs::host
