#include "ifl/cmds/job_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::HasSubstr;

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
