#include "migrate/migrate.h"

#include "objects/snapshot.h"
#include "objects/store.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const objects::Identity kRoot{"root", "localhost", objects::manager_privilege};
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1795248000}};

const std::string kConfig =
    "SUBMIT_QUEUE submit\nBATCH_QUEUES small,large\nPRIME_TIME_START 8:00:00\nPRIME_TIME_END 17:00:00\n"
    "PRIME_TIME_WALLT_LIMIT 2:00:00\nENFORCE_PRIME_TIME True\n";

class MigrateTest : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = objects::Store::open(home_.path("policy.db"), {"UTC", {}}, kNow);
        ASSERT_TRUE(opened) << opened.error().message;
        store_.emplace(std::move(*opened));
    }
    std::string home() const { return home_.path("."); }

    Folder home_;
    std::optional<objects::Store> store_;
};

TEST_F(MigrateTest, FindsTheFilesOfAHome) {
    EXPECT_TRUE(find_legacy_files(home()).empty());
    home_.write("sched_priv/holidays", "1\n");
    EXPECT_TRUE(find_legacy_files(home()).empty()) << "holidays alone are of some other scheduler";
    home_.write("sched_priv/CONFIGFILE", kConfig);
    EXPECT_EQ(find_legacy_files(home()).config, home() + "/sched_priv/CONFIGFILE");
    home_.write("sched_priv/config", kConfig);
    EXPECT_EQ(find_legacy_files(home()).config, home() + "/sched_priv/config");
    EXPECT_EQ(find_legacy_files(home()).holidays, home() + "/sched_priv/holidays");
}

TEST_F(MigrateTest, FirstStartWithoutFiles) {
    const auto report = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->report.lines.empty());
    EXPECT_EQ(to_text(report->report), "There was nothing to migrate.\n");
}

TEST_F(MigrateTest, FirstStartMigratesOnceAndTouchesNoFile) {
    const std::string config = home_.write("sched_priv/config", kConfig);
    const std::string holidays = home_.write("sched_priv/holidays", "YEAR 2026\n1 Jan 1\n359 Dec 25\n");
    const auto before = std::filesystem::last_write_time(config);
    const auto report = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(report) << testing::PrintToString(texts(report.error()));
    EXPECT_TRUE(report->report.changed());
    const auto snapshot = store_->snapshot();
    EXPECT_EQ(snapshot->policy("default_policy")->text("submit_queue"), "submit");
    EXPECT_EQ(snapshot->time_windows_of_type("prime").size(), 1U);
    EXPECT_EQ(snapshot->non_work_days().size(), 2U);
    EXPECT_EQ(read_text(config), kConfig);
    EXPECT_EQ(std::filesystem::last_write_time(config), before);
    EXPECT_TRUE(std::filesystem::exists(holidays));
    // A second start of the server changes nothing.
    const auto second = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->report.changed());
    EXPECT_EQ(store_->snapshot()->revision(), snapshot->revision());
    EXPECT_THAT(to_text(second->report), HasSubstr("Nothing was changed: everything is there already.\n"));
}

TEST_F(MigrateTest, MistakesOfBothFilesAreReportedAndNothingIsMigrated) {
    const std::string config = home_.write("sched_priv/config", kConfig + "MAX_JOBS two\nfoo bar\n");
    const std::string holidays = home_.write("sched_priv/holidays", "1\nchristmas\n");
    const auto revision = store_->snapshot()->revision();
    const auto report = migrate({config, holidays}, *store_, kRoot, kNow, {}, {.convert = {.strict = true}});
    ASSERT_FALSE(report);
    EXPECT_THAT(texts(report.error()),
                ElementsAre(HasSubstr(config + ":7:10: MAX_JOBS: 'two'"), HasSubstr(config + ":8:1: foo"),
                            HasSubstr(holidays + ":2:1: 'christmas'")));
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    EXPECT_FALSE(store_->snapshot()->policy("default_policy")->is_set("submit_queue"));
    EXPECT_TRUE(store_->snapshot()->non_work_days().empty());
}

TEST_F(MigrateTest, WhatTheOlderSchedulerWentOnAfterIsTold) {
    home_.write("sched_priv/sched_config", "by_queue: True\nunheard_of: 1\n");
    home_.write("sched_priv/holidays", "YEAR 2026\n367 x\n");
    home_.write("sched_priv/sched_formula", "### PBS INTERNAL FILE DO NOT MODIFY ###\nncpus * foo\n");
    const auto strict =
        migrate(find_legacy_files(home()), *store_, kRoot, kNow, {}, {.convert = {.strict = true}});
    ASSERT_FALSE(strict);
    EXPECT_THAT(texts(strict.error()),
                ElementsAre(HasSubstr("sched_config:2:1: 'unheard_of'"), HasSubstr("holidays:2:1: '367'")));
    EXPECT_FALSE(store_->snapshot()->policy("default_policy")->is_set("by_queue"));
    const auto done = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(done) << testing::PrintToString(texts(done.error()));
    EXPECT_THAT(
        to_text(done->report),
        testing::AllOf(HasSubstr("sched_config:2:1: 'unheard_of' is not an option of sched_config; the line "
                                 "is left out\n"),
                       HasSubstr("holidays:2:1: '367' is not"),
                       HasSubstr("sched_formula:2: job_sort_formula: 'foo' is not a known resource"),
                       testing::Not(HasSubstr("'foo' is not a resource of this server"))));
    EXPECT_TRUE(store_->snapshot()->policy("default_policy")->boolean("by_queue"));
    EXPECT_EQ(store_->snapshot()->policy("default_policy")->text("job_sort_formula"), "ncpus * foo");
}

// Policies may name resources that the server creates only later, when it reads the same files.
TEST_F(MigrateTest, ResourcesThatAreYetToBeMadeAreKnown) {
    home_.write("sched_priv/sched_config",
                "resources: \"ncpus, mem, tape\"\njob_sort_key: \"disk HIGH\"\nserver_dyn_res: \"disk "
                "!/bin/true\"\n");
    home_.write("sched_priv/qmgr_print", "create resource lic\nset resource lic flag = q\n");
    home_.write("server_priv/resourcedef", "disk type=size flag=q\n");
    const auto done = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(done) << testing::PrintToString(texts(done.error()));
    EXPECT_THAT(to_text(done->report),
                testing::AllOf(testing::Not(HasSubstr("is not a resource of this server")),
                               HasSubstr("resources: 'tape' is not a known resource")));
    const auto excluded = store_->snapshot()->policy("default_policy")->list("exclude_resources");
    EXPECT_THAT(excluded, testing::IsSupersetOf({"disk", "lic"}));
    const auto work = host_work_from_json(store_->meta(kHostWorkKey)->value_or(""));
    ASSERT_EQ(work.commands.size(), 5U);
    EXPECT_EQ(work.commands.front().file, home() + "/server_priv/resourcedef");
    EXPECT_EQ(work.commands.back().file, "");
}

TEST_F(MigrateTest, AFormulaOfAnotherLanguageIsNoObstacle) {
    home_.write("sched_priv/sched_config", "by_queue: True\n");
    home_.write("sched_priv/sched_formula", "# comment\n[ncpus for x in y]\n");
    const auto done = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(done) << testing::PrintToString(texts(done.error()));
    EXPECT_THAT(to_text(done->report),
                HasSubstr("sched_formula:2: job_sort_formula: bad formula '[ncpus for x in "
                          "y]'"));
    EXPECT_THAT(to_text(done->report), HasSubstr("; it is left out\n"));
    EXPECT_TRUE(store_->snapshot()->policy("default_policy")->boolean("by_queue"));
    const auto strict =
        migrate(find_legacy_files(home()), *store_, kRoot, kNow, {}, {.convert = {.strict = true}});
    EXPECT_FALSE(strict);
}

TEST_F(MigrateTest, AnOriginConfigurationUnderTheNameOfSchedConfig) {
    home_.write("sched_priv/sched_config", kConfig);
    home_.write("sched_priv/holidays", "YEAR 2026\n1 Jan 1\n");
    home_.write("sched_priv/resource_group", "a 10 root 5\n");
    const auto done = first_start(home(), *store_, kRoot, kNow);
    ASSERT_TRUE(done) << testing::PrintToString(texts(done.error()));
    EXPECT_THAT(to_text(done->report), HasSubstr("sched_config: holds options of an Origin scheduler"));
    EXPECT_EQ(store_->snapshot()->policy("default_policy")->text("algorithm"), "origin");
    EXPECT_EQ(store_->snapshot()->non_work_days().size(), 1U);
    EXPECT_EQ(store_->snapshot()->fs_group("default_fs_group"), nullptr);
}

TEST_F(MigrateTest, FilesThatCannotBeRead) {
    const auto missing = migrate({home_.path("none"), ""}, *store_, kRoot, kNow);
    ASSERT_FALSE(missing);
    EXPECT_THAT(texts(missing.error()),
                ElementsAre(home_.path("none") + ": can't be read: No such file or directory"));
    const auto folder = migrate({home_.path("."), ""}, *store_, kRoot, kNow);
    ASSERT_FALSE(folder);
    EXPECT_THAT(texts(folder.error()), ElementsAre(home_.path(".") + ": is a folder, expected a file"));
    std::filesystem::create_symlink("loop", home_.path("loop"));
    EXPECT_THAT(texts(migrate({home_.path("loop"), ""}, *store_, kRoot, kNow).error()),
                ElementsAre(home_.path("loop") + ": can't be read: Too many levels of symbolic links"));
    const auto empty = migrate({home_.write("config", ""), ""}, *store_, kRoot, kNow);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().size(), 2U);
}

// Left out, such a file would look like a home that never had it.
TEST_F(MigrateTest, AFirstStartWithAFileThatCannotBeReadMigratesNothing) {
    home_.write("sched_priv/sched_config", "by_queue: True\n");
    for (const char* name : {"holidays", "resource_group", "config"}) {
        const std::string path = home() + "/sched_priv/" + name;
        std::filesystem::create_symlink("nothing", path);
        const auto done = first_start(home(), *store_, kRoot, kNow);
        ASSERT_FALSE(done) << name;
        EXPECT_THAT(texts(done.error()), ElementsAre(path + ": can't be read: No such file or directory"));
        std::filesystem::remove(path);
        std::filesystem::create_directory(path);
        EXPECT_THAT(texts(first_start(home(), *store_, kRoot, kNow).error()),
                    ElementsAre(testing::StartsWith(path + ": is ")))
            << name;
        std::filesystem::remove(path);
    }
    MigrateOptions options;
    options.other_scheds["night"] = home_.path("sched_night");
    home_.write("sched_night/sched_config", "by_queue: True\n");
    std::filesystem::create_symlink("resource_group", home_.path("sched_night/resource_group"));
    const auto other = first_start(home(), *store_, kRoot, kNow, {}, options);
    ASSERT_FALSE(other);
    EXPECT_THAT(texts(other.error()), ElementsAre(HasSubstr("resource_group: ")));
}

TEST_F(MigrateTest, WhatAnAdministratorChangedSinceIsSetBackToTheFile) {
    const std::string config = home_.write("config", kConfig);
    ASSERT_TRUE(migrate({config, ""}, *store_, kRoot, kNow));
    ASSERT_TRUE(store_->execute({objects::CommandKind::set,
                                 objects::ObjectType::policy,
                                 "default_policy",
                                 {{"prime_time_wallt_limit", "01:00:00", objects::Operation::set}}},
                                kRoot, kNow));
    const auto report = migrate({config, ""}, *store_, kRoot, kNow);
    ASSERT_TRUE(report);
    EXPECT_THAT(to_text(report->report), HasSubstr("prime_time_wallt_limit = 02:00:00\n"));
    EXPECT_THAT(to_text(report->report), HasSubstr("1 value was set.\n"));
}

TEST_F(MigrateTest, OnlyManagersMigrate) {
    const std::string config = home_.write("config", kConfig);
    const auto report = migrate({config, ""}, *store_, {"user", "localhost", objects::user_privilege}, kNow);
    ASSERT_FALSE(report);
    EXPECT_THAT(texts(report.error()), ElementsAre(HasSubstr("may not")));
}

}  // namespace
}  // namespace pbs::migrate::test
