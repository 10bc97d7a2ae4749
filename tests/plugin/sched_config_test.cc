// Tests that a scheduler without a policy reads the sched_config file in its sched_priv, until it has a
// policy again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kQueue = 101;
constexpr const char* kFile = "sched_priv/sched_config";

class SchedConfig : public ::testing::Test {
  protected:
    void SetUp() override {
        host.bring_up();
        host.queue(kQueue, "workq");
        host.vnode(kVnode, "n1", 64);
        host.job({.handle = 1, .queue = kQueue, .ncpus = 2});
        host.job({.handle = 2, .queue = kQueue, .ncpus = 4});
        host.job({.handle = 3, .queue = kQueue, .ncpus = 1});
    }
    void unset_policy() {
        const Answer done = host.manager(PBS_CMD_UNSET, PBS_OBJ_SCHED, "default", {{"policy", ""}});
        ASSERT_EQ(done.code, 0) << done.text;
    }
    std::vector<uint64_t> started() {
        std::vector<uint64_t> jobs;
        for (const Decision& decision : host.cycle())
            if (decision.kind == PBS_DECIDE_RUN) jobs.push_back(decision.job);
        return jobs;
    }
    std::string shown(const std::string& attribute) {
        const auto all = host.attributes_of(PBS_OBJ_SCHED, "default");
        const auto found = all.find(attribute);
        return found == all.end() ? "(none)" : found->second;
    }
    std::string path() const { return (host.home() / kFile).string(); }
    std::size_t times_logged(const std::string& part) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            host.log, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
    }

    FakeHost host;
};

TEST_F(SchedConfig, IsReadInTheNextCycleAfterUnset) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    EXPECT_THAT(started(), ElementsAre(1, 2, 3)) << "with a policy the file is ignored";
    EXPECT_EQ(shown("sched_config"), "(none)");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_EQ(shown("active_policy"), "sched_config");
    EXPECT_EQ(shown("sched_config"), path());
    EXPECT_EQ(shown("configuration_error"), "(none)");
    EXPECT_TRUE(host.logged("No policy is assigned: " + path() + " is in force"));
}

TEST_F(SchedConfig, IsReadAgainWhenItChanges) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_EQ(times_logged("is in force"), 1U) << "an unchanged file isn't read again";
    host.write(kFile, "job_sort_key: \"ncpus LOW\"\n");
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
}

TEST_F(SchedConfig, ALineWithAMistakeIsLeftOutAndTheRestCounts) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    host.write(kFile, "job_sort_key: \"ncpus LOW\"\njob_sort_key: \"mem UP\"\nfoo_bar 1\n");
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
    EXPECT_EQ(shown("sched_config"), path());
    EXPECT_THAT(shown("configuration_error"),
                AllOf(HasSubstr(path() + ":2:16: job_sort_key: 'mem UP' is not "),
                      HasSubstr("; the line is left out (and 1 more in the log)")));
    EXPECT_EQ(times_logged("job_sort_key: 'mem UP'"), 1U) << "the log says it once";
    EXPECT_EQ(times_logged(":3:1: 'foo_bar'"), 1U);
    host.write(kFile, "job_sort_key: \"ncpus LOW\"\n");
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
    EXPECT_EQ(shown("configuration_error"), "(none)");
}

TEST_F(SchedConfig, AConfigurationOfAnotherSchedulerChangesNothing) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    host.write(kFile, "SUBMIT_QUEUE submit\nBATCH_QUEUES a\n");
    EXPECT_THAT(started(), ElementsAre(2, 1, 3)) << "the last good one stays";
    EXPECT_THAT(shown("configuration_error"), HasSubstr(path() + ": holds options of an Origin scheduler"));
    EXPECT_TRUE(host.logged("isn't used: what it said before stays in force"));
}

TEST_F(SchedConfig, WithoutAGoodFileTheDefaultsOfPbs) {
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(1, 2, 3));
    EXPECT_EQ(shown("active_policy"), "sched_config");
    EXPECT_EQ(shown("sched_config"), path() + " (not in force: the defaults of PBS are)");
    EXPECT_TRUE(host.logged("there is no " + path()));
    host.write(kFile, "SUBMIT_QUEUE submit\n");
    EXPECT_THAT(started(), ElementsAre(1, 2, 3));
    EXPECT_THAT(shown("configuration_error"), HasSubstr("Origin"));
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    std::filesystem::remove(path());
    EXPECT_THAT(started(), ElementsAre(1, 2, 3)) << "a file that is gone says nothing any more";
}

TEST_F(SchedConfig, APolicyTakesItsPlaceAgain) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\n");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "job_sort_key", "ncpus LOW").code, 0);
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy").code, 0);
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
    EXPECT_EQ(shown("active_policy"), "default_policy");
    EXPECT_EQ(shown("sched_config"), "(none)");
}

TEST_F(SchedConfig, PrimeAndNonPrimeTime) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                           {{"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
                            {"start_time", "0800"},
                            {"end_time", "1700"},
                            {"type", "prime"}})
                  .code,
              0);
    host.write(kFile, "job_sort_key: \"ncpus HIGH\" prime\njob_sort_key: \"ncpus LOW\" non_prime\n");
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_EQ(shown("active_policy"), "sched_config_prime");
    host.tick();
    host.now += 8 * 3600;
    EXPECT_NE(host.tick() & PBS_WANT_POLICY_SWITCH, 0U);
    EXPECT_THAT(started(), ElementsAre(3, 1, 2));
    EXPECT_EQ(shown("active_policy"), "sched_config_non_prime");
}

// Settings of OpenPBS's scheduler object take precedence over those of the sched_config file.
TEST_F(SchedConfig, WhatTheHostSetsOfTheSchedulerGoesBeforeTheFile) {
    host.write(kFile, "job_sort_key: \"ncpus HIGH\"\npreempt_prio: \"express_queue\"\n");
    host.directives =
        "set sched default job_sort_formula = \"ncpus\"\n"
        "set sched default job_sort_formula_threshold = \"3\"\n"
        "set sched default preempt_prio = \"express_queue, normal_jobs\"\n";
    host.tell_of_sched();
    unset_policy();
    EXPECT_THAT(started(), ElementsAre(2));
    host.directives =
        "set sched default job_sort_formula = \"ncpus\"\n"
        "set sched default job_sort_formula_threshold = \"1\"\n";
    host.tell_of_sched();
    EXPECT_THAT(started(), ElementsAre(2, 1)) << "it has changed, and the file hasn't";
    host.directives.clear();
    host.tell_of_sched();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_EQ(shown("configuration_error"), "(none)");
    host.directives = "set sched default job_sort_formula_threshold = \"high\"\n";
    host.tell_of_sched();
    EXPECT_THAT(started(), ElementsAre(2, 1, 3));
    EXPECT_THAT(shown("configuration_error"), HasSubstr("job_sort_formula_threshold"));
}

TEST_F(SchedConfig, RemovedOptionsAreNotedOnce) {
    host.write(kFile, "mom_resources: foo\nfair_share: True\n");
    unset_policy();
    host.cycle();
    EXPECT_EQ(times_logged("sched_config:1: mom_resources: is removed"), 1U);
    EXPECT_EQ(times_logged("fairshare has no effect"), 1U);
    EXPECT_THAT(shown("unsupported_settings"), HasSubstr("policy sched_config: fairshare has no effect"));
    host.queue(kQueue + 1, "other");
    host.cycle();
    EXPECT_EQ(times_logged("mom_resources: is removed"), 1U) << "read again for the queue, nothing new";
}

TEST_F(SchedConfig, OnlyAPlainFileOfTheServersUserIsRead) {
    host.write("elsewhere", "by_queue: maybe\n");
    std::filesystem::create_directories(host.home() / "sched_priv");
    std::filesystem::create_symlink(host.home() / "elsewhere", path());
    unset_policy();
    host.cycle();
    EXPECT_EQ(shown("configuration_error"), path() + ": is a symbolic link, expected a file");
    std::filesystem::remove(path());
    host.write(kFile, "by_queue: True\n");
    ASSERT_EQ(chmod(path().c_str(), 0666), 0);
    host.cycle();
    EXPECT_EQ(shown("configuration_error"),
              path() + ": can be written by others than its owner, expected mode 0644 or less");
    ASSERT_EQ(chmod(path().c_str(), 0644), 0);
    std::filesystem::create_hard_link(path(), host.home() / "another_name");
    host.cycle();
    EXPECT_EQ(shown("configuration_error"),
              path() + ": has another name (a hard link), expected a file of its own");
    std::filesystem::remove(host.home() / "another_name");
    host.cycle();
    EXPECT_EQ(shown("configuration_error"), "(none)");
}

TEST_F(SchedConfig, TheFirstStartMigratesIt) {
    FakeHost fresh;
    fresh.write(kFile, "by_queue: True prime\nby_queue: False non_prime\nmom_resources: foo\n");
    fresh.bring_up();
    EXPECT_EQ(fresh.status(PBS_OBJ_POLICY, "default_policy_prime").value("by_queue"), "True");
    EXPECT_EQ(fresh.status(PBS_OBJ_POLICY, "default_policy_non_prime").value("by_queue"), "False");
    EXPECT_EQ(fresh.attributes_of(PBS_OBJ_SCHED, "default").at("policy"),
              "default_policy,p:default_policy_prime,np:default_policy_non_prime");
    EXPECT_THAT(fresh.read("server_priv/migration_report"), HasSubstr("mom_resources: is removed"));
}

TEST_F(SchedConfig, TheFirstStartTellsOfMistakesAndGoesOn) {
    FakeHost fresh;
    fresh.write(kFile, "by_queue: maybe\nstrict_ordering: True\n");
    fresh.bring_up();
    EXPECT_FALSE(fresh.attributes_of(PBS_OBJ_SCHED, "default").contains("migration_error"));
    EXPECT_EQ(fresh.status(PBS_OBJ_POLICY, "default_policy").value("by_queue"), "True");
    EXPECT_EQ(fresh.status(PBS_OBJ_POLICY, "default_policy").value("strict_ordering"), "True");
    EXPECT_THAT(fresh.read("server_priv/migration_report"),
                HasSubstr("sched_config:1:11: by_queue: 'maybe' is not True or False; it is read as True"));
    EXPECT_TRUE(fresh.logged("by_queue: 'maybe'"));
}

}  // namespace
}  // namespace pbs::plugin_test
