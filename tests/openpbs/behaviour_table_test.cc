// Tests that each case which ptl.md names exists in tests/openpbs/behaviour/. Such a case shows what a test
// of OpenPBS expects.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace pbs {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(PBS_SOURCE_DIR) / "tests/openpbs";

TEST(BehaviourTable, EachCaseThatItNamesIsThereAndItsCountIsRight) {
    std::map<std::string, std::set<std::string>> titles;
    for (const auto& file : std::filesystem::directory_iterator(kFolder / "behaviour")) {
        std::ifstream in(file.path());
        for (std::string line; std::getline(in, line);)
            if (line.starts_with("== ")) titles[file.path().stem()].insert(line.substr(3));
    }
    std::ifstream in(kFolder / "ptl.md");
    std::map<std::string, int> count;  // number of tests, by the first word in the third column
    std::map<std::string, int> told;
    for (std::string line; std::getline(in, line);) {
        std::istringstream row(line);
        std::string suite;
        std::string tests;
        std::string shown;
        std::getline(std::getline(std::getline(std::getline(row, suite, '|'), suite, '|'), tests, '|'), shown,
                     '|');
        std::istringstream words(tests);
        int number = 0;
        for (std::string word; words >> word;) number += word.starts_with("test_") ? 1 : 0;
        if (suite.starts_with(" shown by ") || suite.starts_with(" not shown "))
            told[suite] = std::stoi(tests);
        if (number == 0 || shown.empty()) continue;
        const auto colon = shown.find("`: ");
        const bool is_case = shown.starts_with(" `") && colon != std::string::npos;
        count[is_case                      ? " shown by cases "
              : shown.starts_with(" no: ") ? " not shown "
                                           : " shown by other tests "] += number;
        if (!is_case) continue;
        const std::string title = shown.substr(colon + 3, shown.size() - colon - 4);
        EXPECT_TRUE(titles[shown.substr(2, colon - 2)].contains(title)) << shown;
    }
    EXPECT_EQ(count, told);
    EXPECT_FALSE(told.empty());
}

}  // namespace
}  // namespace pbs
