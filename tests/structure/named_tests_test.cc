// Documents and tables name tests as evidence for their statements. Checks that these tests exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/structure/sources.h"

namespace pbs::structure {
namespace {

namespace fs = std::filesystem;

// Returns the names of the tests below a folder, by suite. The names of fuzz targets are in the suite "fuzz".
std::map<std::string, std::set<std::string>> tests_in(const fs::path& folder) {
    std::map<std::string, std::set<std::string>> tests;
    const std::regex test(R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
        const std::string name = file.path().filename().string();
        if (constexpr std::string_view kFuzz = "_fuzz.cc"; name.ends_with(kFuzz))
            tests["fuzz"].insert(name.substr(0, name.size() - kFuzz.size()));
        if (file.path().extension() != ".cc") continue;
        const std::string text = read_text(file.path());
        // Search for the word first: the expression alone takes ten times as long for the whole text.
        for (auto at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at + 1)) {
            std::smatch found;
            const auto line = text.begin() + static_cast<std::ptrdiff_t>(at) + 1;
            if (std::regex_search(line, text.end(), found, test, std::regex_constants::match_continuous))
                tests[found[1]].insert(found[2]);
        }
    }
    return tests;
}

TEST(NamedTests, TestsNamedInDocumentsExist) {
    const fs::path root = PBS_SOURCE_DIR;
    const auto tests = tests_in(root / "tests");
    const std::regex named(R"(`((?:[A-Z][A-Za-z0-9]*|fuzz))\.(\*|\w+)`)");
    for (const char* document : {"docs/reliability.md", "docs/grid-engine.md"}) {
        const std::string text = read_text(root / document);
        int found = 0;
        for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at, ++found) {
            const auto suite = tests.find((*at)[1]);
            ASSERT_NE(suite, tests.end()) << document << ": " << at->str();
            if ((*at)[2] != "*")
                EXPECT_TRUE(suite->second.contains((*at)[2])) << document << ": " << at->str();
        }
        EXPECT_GT(found, 10) << document;
    }
}

// The table says for each attribute of PP-748 which test fails if the attribute has no effect.
TEST(NamedTests, TestsNamedInTheTableOfEffectsExist) {
    const fs::path folder = fs::path(PBS_SOURCE_DIR) / "tests";
    const auto tests = tests_in(folder);
    const std::string table = read_text(folder / "objects/conformance_table.cc");
    const std::regex row(R"re(\{\w, "(\w+)", "([\w/]+\.cc)", "(\w+)",\s*"(\w+)"\})re");
    int found = 0;
    for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at, ++found) {
        const auto suite = tests.find((*at)[3]);
        EXPECT_TRUE(suite != tests.end() && suite->second.contains((*at)[4]))
            << "the test of " << (*at)[1] << ": " << (*at)[3] << "." << (*at)[4];
        EXPECT_TRUE(fs::exists(folder / (*at)[2].str())) << (*at)[2];
    }
    EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace pbs::structure
