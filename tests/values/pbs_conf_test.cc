#include "values/pbs_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pbs::values {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(PbsConf, IsTheFileOfPbsConfFile) {
    EXPECT_EQ(pbs_conf_path("/srv/pbs.conf"), "/srv/pbs.conf");
    EXPECT_EQ(pbs_conf_path(""), "/etc/pbs.conf");
}

TEST(PbsConf, HasBlanksQuotesAndComments) {
    const std::string path = testing::TempDir() + "pbs_conf_test.conf";
    std::ofstream(path) << "# a comment\n\n PBS_SERVER = head \nPBS_EXEC=\"/opt/p b s\"\nPBS_HOME = '/x'\r\n"
                           "nonsense\n#PBS_HOME=/y\nPBS_PRIMARY='\nPBS_SERVER=second\nPBS_TMPDIR=a=b\n";
    EXPECT_THAT(read_pbs_conf(path),
                ElementsAre(Pair("PBS_EXEC", "/opt/p b s"), Pair("PBS_HOME", "/x"), Pair("PBS_PRIMARY", "'"),
                            Pair("PBS_SERVER", "second"), Pair("PBS_TMPDIR", "a=b")));
    std::filesystem::remove(path);
    EXPECT_THAT(read_pbs_conf(path), IsEmpty());
}

}  // namespace
}  // namespace pbs::values
