// Migrates whole folders of Grid Engine's files (sites/). They have the values of settings that people have
// published, with other names: most are of sites. In `projects` and `departments` the lists, projects and
// parallel environments are those that scripts and notes of sites make; the scheduler's settings of
// `departments` are the defaults, but with functional tickets, which such shares are for. In `middleware`
// sconf and the queue are what a program that reads qconf's output is tested with, and the calendar is of the
// tests of another such program (no site's has been found); the queue has it for this test.
#include <algorithm>
#include <regex>
#include <set>

#include "migrate/grid_engine/folder.h"
#include "migrate/migrate.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "objects/unsupported.h"
#include "tests/migrate/grid_engine/support.h"

namespace pbs::migrate::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

const objects::Identity kAdministrator{"root", "localhost", objects::manager_privilege};
constexpr std::chrono::sys_seconds kThen{std::chrono::seconds{1795248000}};

std::vector<std::string> site_folders() {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(PBS_SOURCE_DIR "/tests/migrate/grid_engine/sites"))
        out.push_back(entry.path().filename().string());
    std::ranges::sort(out);
    return out;
}

// Returns the numbers of the lines that a report names of a file, as in "PATH:3-5,7".
std::set<int> told_lines(const std::string& report, const std::string& path) {
    std::set<int> out;
    for (std::size_t at = 0; (at = report.find(path + ":", at)) != std::string::npos;) {
        at += path.size() + 1;
        const std::size_t end = std::min(report.find_first_not_of("0123456789-,", at), report.size());
        const std::string lines = report.substr(at, end - at);
        static const std::regex span("([0-9]+)(-([0-9]+))?");
        for (std::sregex_iterator it(lines.begin(), lines.end(), span), none; it != none; ++it) {
            const int first = std::stoi((*it)[1]);
            const int last = (*it)[3].matched ? std::stoi((*it)[3]) : first;
            for (int line = first; line <= last; ++line) out.insert(line);
        }
    }
    return out;
}

class GridSites : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        auto opened = objects::Store::open(home_.path("policy.db"), {"UTC", {}}, kThen);
        ASSERT_TRUE(opened) << opened.error().message;
        store_.emplace(std::move(*opened));
        files_.grid_engine = PBS_SOURCE_DIR "/tests/migrate/grid_engine/sites/" + GetParam();
    }
    std::string migrated(const LegacyFiles& files, bool dry_run = false) {
        const auto done = migrate(files, *store_, kAdministrator, kThen, {}, {.dry_run = dry_run});
        EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
        return done ? to_text(done->report) : "";
    }

    Folder home_;
    std::optional<objects::Store> store_;
    LegacyFiles files_;
};

TEST_P(GridSites, LoadAndEveryLineIsToldOf) {
    // The report names the lines about the server's own objects only in a dry run.
    const std::string report = migrated(files_, true);
    EXPECT_THAT(migrated(files_), HasSubstr(" were set.\n"));
    const auto text = grid_engine::read_folder(files_.grid_engine);
    ASSERT_TRUE(text) << testing::PrintToString(texts(text.error()));
    const auto folder = grid_engine::parse_folder(*text, files_.grid_engine);
    ASSERT_TRUE(folder);
    for (const grid_engine::File& file : folder->files) {
        const std::set<int> told = told_lines(report, file.path);
        for (const grid_engine::Line& line : file.lines)
            EXPECT_THAT(told, Contains(line.number())) << file.path << ": " << line.text;
    }
}

TEST_P(GridSites, HaveNoSettingOfTicketsWithoutEffect) {
    migrated(files_);
    for (const std::string& line : objects::unsupported_lines(*store_->snapshot()->policy("default_policy")))
        EXPECT_THAT(line, testing::Not(HasSubstr("tickets_functional")));
}

TEST_P(GridSites, AreMadeOnceAndTakenBack) {
    migrated(files_);
    const auto revision = store_->snapshot()->revision();
    EXPECT_THAT(migrated(files_), HasSubstr("Nothing was changed: everything is there already.\n"));
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    // A later migration from an empty folder removes everything that the first one made.
    const Folder folder;
    folder.write("srqs", "no resource quota set defined\n");
    LegacyFiles none;
    none.grid_engine = folder.path(".");
    migrated(none);
    for (const auto type : {objects::ObjectType::quota, objects::ObjectType::fs_group,
                            objects::ObjectType::time_window, objects::ObjectType::queue}) {
        std::vector<std::string> left;
        for (const auto& object : store_->snapshot()->objects(type)) left.push_back(object->name());
        EXPECT_THAT(left, IsEmpty());
    }
    EXPECT_TRUE(store_->snapshot()->policy("default_policy")->values().empty());
}

INSTANTIATE_TEST_SUITE_P(All, GridSites, testing::ValuesIn(site_folders()),
                         [](const auto& site) { return site.param; });

TEST(GridRules, ThatMoveAreMadeAnew) {
    const Folder home;
    auto store = objects::Store::open(home.path("policy.db"), {"UTC", {}}, kThen);
    ASSERT_TRUE(store) << store.error().message;
    const auto rules_after = [&](const std::string& limits) {
        const auto done = migrate(grid_texts({{"srqs", "{\nname q\nenabled TRUE\n" + limits + "}\n"}}),
                                  *store, kAdministrator, kThen);
        EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
        const auto list = store->snapshot()->find(objects::ObjectType::quota, "q")->list("rule");
        return std::vector<std::string>(list.begin(), list.end());
    };
    using Rules = std::vector<std::string>;
    EXPECT_EQ(rules_after("limit name a to slots=1\nlimit name b to slots=2\n"),
              (Rules{"a: to ncpus=1", "b: to ncpus=2"}));
    EXPECT_EQ(rules_after("limit name b to slots=2\nlimit name a to slots=3\n"),
              (Rules{"b: to ncpus=2", "a: to ncpus=3"}));
    EXPECT_EQ(rules_after("limit name b to slots=4\n"), (Rules{"b: to ncpus=4"}));
    EXPECT_EQ(rules_after("limit name c to slots=5\n"), (Rules{"c: to ncpus=5"}));
}

}  // namespace
}  // namespace pbs::migrate::test
