#include "ifl/cmds/job_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/variable_list.h"

namespace pbs::cmds {
namespace {

using testing::HasSubstr;
using testing::Not;

SubmitEnvironment environment() {
    return {{{"HOME", "/home/bob"}, {"PATH", "/bin"}, {"A", "1,2"}, {"PBS_O_QUEUE", "x"}},
            "/work",
            "host",
            "Linux"};
}

constexpr const char* kOwn =
    "PBS_O_HOME=/home/bob,PBS_O_PATH=/bin,PBS_O_WORKDIR=/work,PBS_O_SYSTEM=Linux,PBS_O_HOST=host";

TEST(VariableList, TellsWhereAJobComesFrom) {
    EXPECT_EQ(variable_list(environment(), std::nullopt, false).value(), kOwn);
}

TEST(VariableList, TakesWantedVariables) {
    EXPECT_EQ(variable_list(environment(), "A, B=x,C='y,z',D=a\\,b,E=\"it's\",F=", false).value(),
              std::string(kOwn) + ",A=1\\,2,B=x,C=y\\,z,D=a\\,b,E=it\\'s,F=");
}

// qsub sends variables from its environment byte for byte.
TEST(VariableList, KeepsEveryByteOfTheEnvironment) {
    SubmitEnvironment all = environment();
    for (int byte = 1; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        all.variables["V" + std::to_string(byte)] = std::string("a") + c + "\\" + c + c;
    }
    all.variables["BASH_FUNC_module%%"] = "() {  eval \"$(cmd '\\n' \"a,b\")\";\n}";
    all.directory = "/it's \"a\",\\b";
    all.variables["HOME"] = "/home/o'x\\,";
    std::string wanted;
    for (const auto& [name, value] : all.variables)
        if (!name.starts_with("PBS_O_")) wanted += wanted.empty() ? name : "," + name;
    for (const auto& list : {variable_list(all, wanted, false), variable_list(all, std::nullopt, true)}) {
        ASSERT_TRUE(list);
        const auto sent = text::parse_variables(*list);
        const std::map<std::string, std::string> by_name(sent.begin(), sent.end());
        for (const auto& [name, value] : all.variables)
            EXPECT_TRUE(name.starts_with("PBS_O_") || by_name.at(name) == value) << name;
        EXPECT_EQ(by_name.at("PBS_O_WORKDIR"), all.directory);
        EXPECT_EQ(by_name.at("PBS_O_HOME"), "/home/o'x\\,");
    }
}

TEST(VariableList, TakesValuesWithQuotesAndBackslashes) {
    struct Row {
        const char* given;
        const char* value;
    };
    for (const Row& row : {Row{"x\\,y", "x,y"},
                           {"'a,b'", "a,b"},
                           {"\"a,b\"", "a,b"},
                           {"x'a,b'y\"c,d\"", "xa,byc,d"},
                           {"\"it's\"", "it's"},
                           {"'say \"hi\"'", "say \"hi\""},
                           {"it\\'s", "it's"},
                           {"\\\"hi\\\"", "\"hi\""},
                           {"C:\\dir\\new", "C:\\dir\\new"},
                           {"C:\\\\dir", "C:\\dir"},
                           {"'a\\,b\\\\c'", "a\\,b\\\\c"},
                           {"\"a\\,b\\\\c\\\"d\"", "a\\,b\\c\"d"},
                           {"a=b=c", "a=b=c"},
                           {"a b ", "a b"},
                           {"' a '", " a "},
                           {"a\nb;c", "a\nb;c"},
                           {"", ""}}) {
        const auto list = variable_list(environment(), std::string("X=") + row.given + ",Y=2", false);
        ASSERT_TRUE(list) << row.given;
        EXPECT_EQ(text::find_variable(*list, "X"), row.value) << row.given;
        EXPECT_EQ(text::find_variable(*list, "Y"), "2") << row.given;
    }
}

TEST(VariableList, ABackslashAtTheEndIsOne) {
    EXPECT_EQ(text::find_variable(variable_list(environment(), "X=a\\", false).value(), "X"), "a\\");
}

TEST(VariableList, LeavesOutWhatIsPbsOwn) {
    SubmitEnvironment in_a_job = environment();
    in_a_job.variables["PBS_JOBCOOKIE"] = "SECRET";
    EXPECT_EQ(variable_list(in_a_job, "PBS_O_QUEUE=y,PBS_O_NONE,PBS_JOBCOOKIE", false).value(), kOwn);
    EXPECT_THAT(variable_list(in_a_job, std::nullopt, true).value(), Not(HasSubstr("SECRET")));
}

TEST(VariableList, TakesTheWholeEnvironmentOnce) {
    EXPECT_EQ(variable_list(environment(), "A=9", true).value(),
              std::string(kOwn) + ",A=9,HOME=/home/bob,PATH=/bin");
}

TEST(VariableList, RefusesWhatIsNotThere) {
    EXPECT_THAT(variable_list(environment(), "NOPE", false).error().message, HasSubstr("-v NOPE"));
    EXPECT_FALSE(variable_list(environment(), "=x", false));
    EXPECT_FALSE(variable_list(environment(), "A='x", false));
}

}  // namespace
}  // namespace pbs::cmds
