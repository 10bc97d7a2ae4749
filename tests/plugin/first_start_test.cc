// Tests the server's first start, at which the plugin makes objects of the legacy files, once. If a file has
// a mistake, the plugin makes no object, and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kConfig =
    "SUBMIT_QUEUE submit\n"
    "BATCH_QUEUES small,batch\n"
    "ENFORCE_PRIME_TIME True\n"
    "PRIME_TIME_START 08:00:00\n"
    "PRIME_TIME_END 17:00:00\n"
    "PRIME_TIME_WALLT_LIMIT 02:00:00\n";
constexpr std::string_view kHolidays = "* comment\n1 Jan 1 New Year's Day\n";

TEST(FirstStart, GoodFilesBecomeObjects) {
    FakeHost host;
    host.write("sched_priv/config", kConfig);
    host.write("sched_priv/holidays", kHolidays);
    host.bring_up();
    const Answer policy = host.status(PBS_OBJ_POLICY, "default_policy");
    EXPECT_EQ(policy.value("algorithm"), "origin");
    EXPECT_EQ(policy.value("batch_queues"), "small,batch");
    EXPECT_EQ(policy.value("prime_time_wallt_limit"), "02:00:00");
    ASSERT_EQ(host.status(PBS_OBJ_TIME_WINDOW, "").objects.size(), 1u);
    EXPECT_EQ(host.status(PBS_OBJ_TIME_WINDOW, "").value("type"), "prime");
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, ""), Contains(Key("non_work_days")));
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"),
                AllOf(Contains(Pair("prime_time", "True")), Not(Contains(Key("migration_error")))));
    EXPECT_THAT(host.read("server_priv/migration_report"), HasSubstr("PRIME_TIME_WALLT_LIMIT"));
    EXPECT_TRUE(host.logged("Legacy files were migrated"));
}

// The older schedulers read a holidays file again after it has changed. The plugin only reports the change.
TEST(FirstStart, AHolidaysFileThatIsTouchedLaterIsToldAsNotRead) {
    for (const bool of_pbs : {false, true}) {
        FakeHost host;
        host.write(of_pbs ? "sched_priv/sched_config" : "sched_priv/config",
                   of_pbs ? "by_queue: True\n" : kConfig);
        host.write("sched_priv/holidays", of_pbs ? "YEAR 2026\n1 Jan 1\n" : kHolidays);
        host.bring_up();
        const auto told = [&] {
            const auto shown = host.attributes_of(PBS_OBJ_SCHED, "default");
            const auto found = shown.find("unsupported_settings");
            return found == shown.end() ? std::string() : found->second;
        };
        EXPECT_THAT(told(), Not(HasSubstr("holidays")));
        // A restored file has another time, but the same content.
        const auto path = host.home() / "sched_priv/holidays";
        std::filesystem::last_write_time(path,
                                         std::filesystem::last_write_time(path) + std::chrono::hours(1));
        EXPECT_THAT(told(), Not(HasSubstr("holidays")));
        host.write("sched_priv/holidays",
                   of_pbs ? "YEAR 2026\n2 Jan 1\n" : "* comment\n2 Jan 1 New Year's Day\n");
        EXPECT_THAT(told(), HasSubstr("was changed after its migration")) << "of the same size";
        host.write("sched_priv/holidays",
                   of_pbs ? "YEAR 2026\n1 Jan 1\n359 Dec 25\n" : "1 Jan 1\n359 Dec 25\n");
        const std::string folder = (host.home() / "sched_priv").string();
        EXPECT_THAT(told(),
                    HasSubstr(folder +
                              "/holidays: was changed after its migration and isn't read, as "
                              "non_work_days and the time_windows count: pbs_migrate " +
                              (of_pbs ? "--sched-config " + folder + "/sched_config " : std::string()) +
                              "--holidays " + folder + "/holidays --server takes it over"));
    }
}

// The legacy files may name queues that don't exist yet.
TEST(FirstStart, QueuesThatAreNotThereYetAreInTheReport) {
    FakeHost host;
    host.write("sched_priv/config", kConfig);
    ASSERT_EQ(host.init(), 0) << host.error;
    host.introduce();
    host.queue(1, "submit");
    ASSERT_EQ(host.start(), 0) << host.error;
    const std::string report = host.read("server_priv/migration_report");
    EXPECT_THAT(report, HasSubstr("note: policy default_policy: batch_queues: there is no queue 'small'\n"
                                  "note: policy default_policy: batch_queues: there is no queue 'batch'\n"));
    EXPECT_THAT(report, Not(HasSubstr("'submit'")));
    EXPECT_TRUE(host.logged("there is no queue 'small'"));
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("batch_queues"), "small,batch");
}

TEST(FirstStart, TheOtherNameOfTheConfiguration) {
    FakeHost host;
    host.write("sched_priv/CONFIGFILE", kConfig);
    host.bring_up();
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("submit_queue"), "submit");
}

TEST(FirstStart, AMistakeMigratesNothingAndIsToldEverywhere) {
    FakeHost host;
    host.write("sched_priv/config", std::string(kConfig) + "DECAY_FACTOR lots\nUNHEARD_OF 1\n");
    host.write("sched_priv/holidays", kHolidays);
    host.bring_up();
    const Answer policy = host.status(PBS_OBJ_POLICY, "default_policy");
    EXPECT_EQ(policy.value("algorithm"), "standard");
    EXPECT_EQ(policy.value("submit_queue"), "(none)");
    EXPECT_TRUE(host.status(PBS_OBJ_TIME_WINDOW, "").objects.empty());
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, ""), Not(Contains(Key("non_work_days"))));
    EXPECT_THAT(
        host.attributes_of(PBS_OBJ_SCHED, "default"),
        AllOf(Contains(Pair("active_policy", "default_policy")),
              Contains(Pair("migration_error", AllOf(HasSubstr("config"), HasSubstr("and 1 more"))))));
    for (const char* culprit : {"DECAY_FACTOR", "UNHEARD_OF"}) {
        EXPECT_TRUE(host.logged(culprit)) << culprit;
        EXPECT_THAT(host.read("server_priv/migration_report"), HasSubstr(culprit));
    }
}

// Root may start a server on a PBS_HOME where another user has put links in the place of files.
TEST(FirstStart, WordsOfFilesThatNotEverybodyMayReadAreNotShown) {
    for (const bool hard : {false, true}) {
        FakeHost host;
        host.write("secret", "geheim hush\n");
        std::filesystem::permissions(host.home() / "secret", std::filesystem::perms(0600));
        std::filesystem::create_directories(host.home() / "sched_priv");
        for (const char* name : {"config", "holidays"}) {
            if (hard) {
                std::filesystem::create_hard_link(host.home() / "secret", host.home() / "sched_priv" / name);
            } else {
                std::filesystem::create_symlink(host.home() / "secret", host.home() / "sched_priv" / name);
            }
        }
        host.bring_up();
        EXPECT_THAT(
            host.attributes_of(PBS_OBJ_SCHED, "default"),
            Contains(Pair("migration_error", AllOf(HasSubstr(hard ? "(a hard link)" : "is a symbolic link"),
                                                   Not(HasSubstr("geheim")), Not(HasSubstr("hush"))))));
        EXPECT_FALSE(host.logged("geheim"));
        EXPECT_FALSE(host.logged("hush"));
    }
}

TEST(FirstStart, LinksToFilesThatEverybodyMayReadAreFollowed) {
    const FakeHost shared;
    shared.write("config", kConfig);
    std::filesystem::permissions(shared.home(), std::filesystem::perms(0755));
    FakeHost host;
    std::filesystem::create_directories(host.home() / "sched_priv");
    std::filesystem::create_symlink(shared.home() / "config", host.home() / "sched_priv/config");
    host.bring_up();
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("submit_queue"), "submit");
}

TEST(FirstStart, LaterStartsRememberTheMistakeAndMigrateNothing) {
    const FakeHost folder;
    {
        FakeHost host(folder.home());
        host.write("sched_priv/config", "DECAY_FACTOR lots\n");
        host.bring_up();
    }
    FakeHost host(folder.home());
    host.write("sched_priv/config", kConfig);
    host.bring_up();
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("algorithm"), "standard");
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Key("migration_error")));
}

TEST(FirstStart, TheMistakeIsForgottenOnceCorrected) {
    const FakeHost folder;
    {
        FakeHost host(folder.home());
        host.write("sched_priv/config", "DECAY_FACTOR lots\n");
        host.bring_up();
        ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "comment", "not yet").code, 0);
        EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Key("migration_error")));
        // Correct the mistake by commands, as pbs_migrate --dry-run | qmgr does.
        ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", "origin").code, 0);
        EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Not(Contains(Key("migration_error"))));
    }
    FakeHost host(folder.home());
    host.bring_up();
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Not(Contains(Key("migration_error"))));
}

TEST(FirstStart, LaterStartsLeaveChangesAlone) {
    const FakeHost folder;
    {
        FakeHost host(folder.home());
        host.write("sched_priv/config", kConfig);
        host.bring_up();
        ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "prime_time_wallt_limit", "03:00:00").code, 0);
    }
    FakeHost host(folder.home());
    host.bring_up();
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("prime_time_wallt_limit"), "03:00:00");
}

TEST(FirstStart, AFreshInstallationHasNothingToMigrate) {
    FakeHost host;
    host.bring_up();
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Not(Contains(Key("migration_error"))));
    EXPECT_FALSE(std::filesystem::exists(host.home() / "server_priv/migration_report"));
}

// A folder in the place of the report keeps the report from being written. Later the folder is removed.
TEST(FirstStart, AReportThatCouldNotBeWrittenIsWrittenAtTheNextStart) {
    const FakeHost folder;
    const auto report = folder.home() / "server_priv/migration_report";
    {
        FakeHost host(folder.home());
        host.write("sched_priv/config", kConfig);
        host.write("server_priv/migration_report/in_the_way", "");
        host.bring_up();
        EXPECT_TRUE(host.logged("migration_report can't be written: "));
        EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("submit_queue"), "submit");
    }
    std::filesystem::remove_all(report);
    {
        FakeHost host(folder.home());
        host.bring_up();
        EXPECT_THAT(host.read("server_priv/migration_report"), HasSubstr("PRIME_TIME_WALLT_LIMIT"));
    }
    // The report is written only once, so the administrator may remove it.
    std::filesystem::remove(report);
    FakeHost host(folder.home());
    host.bring_up();
    EXPECT_FALSE(std::filesystem::exists(report));
}

}  // namespace
}  // namespace pbs::plugin_test
