// Checks that each command has the same options in its program and in its manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

struct Page {
    const char* name;
    const char* letters;  // the command's option letters, as in its getopt string, without colons
};

class ManualPage : public testing::TestWithParam<Page> {};

// Returns the letters of a page's options, from its lines ".It Fl x ...".
std::set<char> documented(const std::string& path) {
    std::ifstream page(path);
    EXPECT_TRUE(page) << path;
    std::set<char> letters;
    std::string line;
    while (std::getline(page, line)) {
        if (line.starts_with(".It Fl ") && line.size() > 7 && line[7] != '-') {
            letters.insert(line[7]);
        }
    }
    return letters;
}

TEST_P(ManualPage, HasTheOptionsOfTheCommand) {
    const std::string letters = GetParam().letters;
    EXPECT_THAT(documented(std::string(PBS_SOURCE_DIR "/man/") + GetParam().name),
                testing::ElementsAreArray(std::set<char>(letters.begin(), letters.end())));
}

INSTANTIATE_TEST_SUITE_P(
    All, ManualPage,
    testing::Values(Page{"qalter.1", "aAcehjklmMNopPrRSuW"}, Page{"qdel.1", "Wx"}, Page{"qhold.1", "h"},
                    Page{"qrls.1", "h"}, Page{"qmove.1", ""}, Page{"qselect.1", "aAchHJlNpqrstTuxP"},
                    Page{"qstat.1", "ainpqrstwxufGHJMQEBT1FD"},
                    Page{"qsub.1", "aAcCefhIjJklmMNopPqrRSuvVWXz"}, Page{"pbs_rsub.1", "DEgGHIlmMNqrRuUW"},
                    Page{"pbs_rstat.1", "BfFS"}, Page{"pbs_rdel.1", ""}, Page{"pbs_ralter.1", "DEGIlmMNqRUW"},
                    Page{"pbs_config.8", "s"}, Page{"pbs_fairshare.8", "cdeFGgIst"},
                    Page{"pbs_quota.1", "FIqu"}, Page{"pbsnodes.8", "acCdDFHjlLoqrsSv"},
                    Page{"qmgr.8", "acenz"}, Page{"qrun.8", "aH"}, Page{"qsig.1", "s"}, Page{"qmsg.1", "EO"},
                    Page{"qorder.1", ""}, Page{"qrerun.8", "W"}, Page{"qenable.8", ""},
                    Page{"qdisable.8", ""}, Page{"qstart.8", ""}, Page{"qstop.8", ""},
                    Page{"qterm.8", "tmsfFi"}, Page{"tracejob.8", "zvamslwpnfc"}));

// The functions of the C API for scheduling policies, and the types of objects that pbs_stateach() takes.
TEST(ManualPages, OfSection3HaveTheFunctionsForPolicies) {
    const auto text_of = [](const std::string& name) {
        std::ifstream page(PBS_SOURCE_DIR "/man/" + name);
        EXPECT_TRUE(page) << name;
        std::ostringstream text;
        text << page.rdbuf();
        return text.str();
    };
    const std::string objects = text_of("pbs_statpolicy.3B");
    for (const char* name :
         {"pbs_statpolicy", "pbs_stattimewindow", "pbs_statfsgroup", "pbs_statquota", "pbs_stateach"})
        EXPECT_THAT(objects, testing::HasSubstr(std::string(".Fn ") + name + " ")) << name;
    for (const char* type : {"MGR_OBJ_POLICY", "MGR_OBJ_TIME_WINDOW", "MGR_OBJ_FS_GROUP", "MGR_OBJ_QUOTA"})
        EXPECT_THAT(objects, testing::HasSubstr(std::string(".Dv ") + type));
    for (const char* name : {"pbs_statfairshare", "pbs_statquotause"})
        EXPECT_THAT(text_of("pbs_statfairshare.3B"), testing::HasSubstr(std::string(".Fn ") + name + " "));
}

}  // namespace
