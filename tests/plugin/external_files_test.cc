// Tests the files for pbs_sched that are made from policies with algorithm = external.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int64_t kHour = 3600;
constexpr int64_t kDay = 24 * kHour;

class ExternalFiles : public ::testing::Test {
  protected:
    void bring_up(uint32_t has_pbs_sched = 1) {
        host.write("sched_priv/sched_config", "by_queue: True ALL\nstrict_ordering: True ALL\n");
        host.write("sched_priv/holidays", "* none\n");
        host.write("sched_priv/dedicated_time", "# none\n");
        host.host.has_pbs_sched = has_pbs_sched;
        host.bring_up();
        settle();
    }
    // Ticks while something is due, like a host.
    void settle() {
        for (int i = 0; i < 5 && host.next_deadline() <= host.now; ++i) host.tick();
    }
    void set(int32_t type, const std::string& name, const std::vector<Change>& changes,
             int32_t command = PBS_CMD_SET) {
        const Answer answer = host.manager(command, type, name, changes);
        ASSERT_EQ(answer.code, 0) << answer.text;
        settle();
    }
    void go_external() { set(PBS_OBJ_POLICY, "default_policy", {{"algorithm", "external"}}); }
    std::string file(const std::string& name) const { return host.read("sched_priv/" + name); }
    bool there(const std::string& name) const { return fs::exists(host.home() / "sched_priv" / name); }
    void make_prime(const std::string& rrule, const std::string& start, const std::string& end) {
        set(PBS_OBJ_TIME_WINDOW, "prime",
            {{"rrule", rrule},
             {"start_time", start},
             {"end_time", end},
             {"type", "prime"},
             {"applies_on_holidays", "False"}},
            PBS_CMD_CREATE);
    }

    FakeHost host;
};

TEST_F(ExternalFiles, AreMadeAtOnceAndWhatWasThereComesBack) {
    bring_up();
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    go_external();
    EXPECT_THAT(file("sched_config"), HasSubstr("strict_ordering: True\n"));
    EXPECT_THAT(file("sched_config"), HasSubstr("by_queue: True\n"));
    EXPECT_TRUE(there("resource_group"));
    EXPECT_EQ(file("sched_config.before_pbs_policy"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    set(PBS_OBJ_POLICY, "default_policy", {{"strict_ordering", "False"}});
    EXPECT_THAT(file("sched_config"), HasSubstr("strict_ordering: False\n"));
    // The copy still has the site's file, from before the plugin first wrote sched_config.
    EXPECT_EQ(file("sched_config.before_pbs_policy"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    set(PBS_OBJ_POLICY, "default_policy", {{"algorithm", "standard"}});
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    EXPECT_EQ(file("holidays"), "* none\n");
    EXPECT_FALSE(there("resource_group"));
    EXPECT_FALSE(there("sched_config.before_pbs_policy"));
}

// If a prefix were missing, pbs_sched would take every queue for a prime, non-prime or dedicated queue.
TEST_F(ExternalFiles, PrefixesOfQueuesStayAsTheyWere) {
    host.write("sched_priv/sched_config", "by_queue: True ALL\nprimetime_prefix: p_\n");
    host.host.has_pbs_sched = 1;
    host.bring_up();
    settle();
    go_external();
    EXPECT_THAT(file("sched_config"), HasSubstr("\nprimetime_prefix: p_\ndedicated_prefix: -none-\n"
                                                "nonprimetime_prefix: -none-\n"));
    host.queue(7, "maintenance");
    set(PBS_OBJ_POLICY, "default_policy", {{"dedicated_queues", "maintenance"}});
    EXPECT_THAT(file("sched_config"), HasSubstr("\ndedicated_prefix: maintenance\n"));
    EXPECT_THAT(file("sched_config"), ::testing::Not(HasSubstr("dedicated_prefix: -none-")));
}

TEST_F(ExternalFiles, ComeBackWhenTheSchedulerHasNoPolicyAnyMore) {
    bring_up();
    go_external();
    set(PBS_OBJ_SCHED, "default", {{"policy", ""}}, PBS_CMD_UNSET);
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
}

TEST_F(ExternalFiles, AreLeftAloneWherePbsSchedIsNot) {
    bring_up(0);
    go_external();
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    EXPECT_FALSE(there("sched_config.before_pbs_policy"));
}

TEST_F(ExternalFiles, ASchedulerOfThePluginsOwnIsToldOfWhatItDoesNotActOn) {
    constexpr const char* kByItsFiles = "pbs_sched schedules by its own files";
    bring_up();
    const pbs_str name{"default", 7};
    EXPECT_EQ(host.plugin.scheduled_by(host.plugin.self, host.now, name), PBS_BY_PLUGIN);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"], HasSubstr(kByItsFiles));
    host.own_sched = 1;
    host.introduce();
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
                ::testing::Not(HasSubstr(kByItsFiles)));
    const std::vector<Change> strange{{"sort_by_past_usage", "True"}};
    EXPECT_THAT(host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", strange).warnings,
                ::testing::Not(::testing::IsEmpty()));
    host.own_sched = 0;
    host.introduce();
    EXPECT_THAT(host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", strange).warnings,
                ::testing::IsEmpty());
    // The files are also made if the scheduler is the plugin's own.
    host.own_sched = 1;
    host.introduce();
    go_external();
    EXPECT_EQ(host.plugin.scheduled_by(host.plugin.self, host.now, name), PBS_BY_OTHERS);
    EXPECT_THAT(file("sched_config"), HasSubstr("# Made from the policies"));
}

TEST_F(ExternalFiles, AreNotMadeForAProgramOfTheSite) {
    host.own_sched = 1;
    bring_up();
    const pbs_str name{"default", 7};
    const auto by = [&] { return host.plugin.scheduled_by(host.plugin.self, host.now, name); };
    go_external();
    EXPECT_EQ(by(), PBS_BY_OTHERS);
    EXPECT_THAT(file("sched_config"), HasSubstr("# Made from the policies"));
    set(PBS_OBJ_POLICY, "default_policy", {{"external_program", "pbs_sched"}});
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
                ::testing::Not(HasSubstr("external_program")));
    set(PBS_OBJ_POLICY, "default_policy", {{"external_program", "ifl"}});
    EXPECT_EQ(by(), PBS_BY_PROGRAM);
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    host.queue(1, "workq");
    host.vnode(2, "n1", 8);
    host.job({.handle = 3, .queue = 1});
    EXPECT_THAT(host.cycle(), ::testing::IsEmpty());
    EXPECT_EQ(
        host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
        "policy default_policy: strict_ordering has no effect: a program of the site orders and starts jobs");
    set(PBS_OBJ_POLICY, "default_policy", {{"algorithm", "standard"}});
    EXPECT_EQ(by(), PBS_BY_PLUGIN);
    EXPECT_THAT(host.cycle(), ::testing::Not(::testing::IsEmpty()));
}

TEST_F(ExternalFiles, PoliciesOfPrimeAndNonPrimeTimeAreColumns) {
    bring_up();
    go_external();
    set(PBS_OBJ_POLICY, "night", {{"by_queue", "False"}, {"algorithm", "external"}}, PBS_CMD_CREATE);
    make_prime("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "0800", "1700");
    set(PBS_OBJ_SCHED, "default", {{"policy", "default_policy,np:night"}});
    EXPECT_THAT(file("sched_config"), HasSubstr("by_queue: True\tprime\nby_queue: False\tnon_prime\n"));
}

TEST_F(ExternalFiles, HolidaysHasTheWeekThatBeginsToday) {
    bring_up();
    go_external();
    // No line of a holidays file can express these two: prime time on the fourth Monday of a month, and a
    // holiday on a Wednesday.
    make_prime("FREQ=MONTHLY;BYDAY=4MO,TU,WE", "0800", "1700");
    set(PBS_OBJ_SERVER, "", {{"non_work_days", "11/25/2026"}});
    EXPECT_THAT(
        file("holidays"),
        HasSubstr("YEAR\t2026\nmonday\t0800\t1700\ntuesday\t0800\t1700\nwednesday\tnone\tall\n"
                  "thursday\tnone\tall\nfriday\tnone\tall\nsaturday\tnone\tall\nsunday\tnone\tall\n"));
    // On Tuesday the line for Monday is about the next Monday, the fifth one of the month, which has no prime
    // time.
    host.now += kDay;
    settle();
    EXPECT_THAT(file("holidays"), HasSubstr("tuesday\t0800\t1700\nwednesday\tnone\tall\n"));
    EXPECT_THAT(file("holidays"), HasSubstr("monday\tnone\tall\n"));
}

TEST_F(ExternalFiles, TheFileHasTheNextOfTwoPeriodsOfADay) {
    bring_up();
    go_external();
    make_prime("FREQ=DAILY", "0800", "1200");
    set(PBS_OBJ_TIME_WINDOW, "later",
        {{"rrule", "FREQ=DAILY"}, {"start_time", "1400"}, {"end_time", "1800"}, {"type", "prime"}},
        PBS_CMD_CREATE);
    EXPECT_THAT(file("holidays"), HasSubstr("monday\t0800\t1200\n"));
    // At noon, in two hours, the file has to change.
    EXPECT_LE(host.next_deadline(), kMonday10 + 2 * kHour);
    host.now = kMonday10 + 2 * kHour;
    settle();
    EXPECT_THAT(file("holidays"), HasSubstr("monday\t1400\t1800\n"));
}

TEST_F(ExternalFiles, WhatTheFilesCantSayIsShown) {
    bring_up();
    const auto shown = [&] { return host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"]; };
    EXPECT_THAT(shown(), HasSubstr("algorithm = external"));
    go_external();
    EXPECT_EQ(shown(), "");
    set(PBS_OBJ_TIME_WINDOW, "t1", {{"rrule", "FREQ=DAILY"}, {"start_time", "0800"}, {"end_time", "1700"}},
        PBS_CMD_CREATE);
    set(PBS_OBJ_QUEUE, "workq", {{"time_window", "t1"}});
    EXPECT_THAT(shown(), HasSubstr("queue workq time_window = t1: pbs_sched knows no hours of queues"));
    // A warning doesn't name a setting that only the plugin's own scheduler ignores.
    const Answer made = host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1", {{"preemption", "True"}});
    EXPECT_THAT(made.warnings, ::testing::IsEmpty());
}

TEST_F(ExternalFiles, AFolderThatCantBeWrittenIsToldAndTriedAgain) {
    bring_up();
    fs::remove(host.home() / "sched_priv/holidays");
    fs::create_directory(host.home() / "sched_priv/holidays");
    go_external();
    EXPECT_TRUE(host.logged("sched_priv/holidays: expected a regular file"));
    EXPECT_EQ(file("sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
    fs::remove(host.home() / "sched_priv/holidays");
    host.now += 60;
    settle();
    EXPECT_THAT(file("sched_config"), HasSubstr("strict_ordering: True\n"));
    EXPECT_THAT(file("holidays"), HasSubstr("prime"));
}

TEST_F(ExternalFiles, AFolderThatIsNoSchedulersIsLeftAlone) {
    bring_up();
    const FakeHost elsewhere;
    const fs::path folder = elsewhere.home() / "sched_priv";
    host.sched_priv = folder.string();
    host.tell_of_sched();
    go_external();
    EXPECT_TRUE(host.logged("and has no sched_config, expected a scheduler's folder"));
    EXPECT_TRUE(fs::is_empty(folder));
    elsewhere.write("sched_priv/sched_config", "by_queue: True ALL\n");
    host.now += 60;
    settle();
    EXPECT_TRUE(fs::exists(folder / "holidays"));
}

TEST_F(ExternalFiles, ThereIsOneAfterARestartToo) {
    bring_up();
    go_external();
    host.stop();
    FakeHost again(host.home());
    again.host.has_pbs_sched = 1;
    again.bring_up();
    for (int i = 0; i < 5 && again.next_deadline() <= again.now; ++i) again.tick();
    EXPECT_EQ(again.read("sched_priv/sched_config.before_pbs_policy"),
              "by_queue: True ALL\nstrict_ordering: True ALL\n");
    EXPECT_EQ(again.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", {{"algorithm", "standard"}}).code,
              0);
    for (int i = 0; i < 5 && again.next_deadline() <= again.now; ++i) again.tick();
    EXPECT_EQ(again.read("sched_priv/sched_config"), "by_queue: True ALL\nstrict_ordering: True ALL\n");
}

// A process that holds the lock in the scheduler's folder counts as pbs_sched, and gets SIGHUP.
TEST_F(ExternalFiles, TheSchedulerIsToldToReadThem) {
    bring_up();
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const std::string lock_file = (host.home() / "sched_priv/sched.lock").string();
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(lock_file.c_str(), O_RDWR | O_CREAT, 0644);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        sigset_t hup{};
        sigemptyset(&hup);
        sigaddset(&hup, SIGHUP);
        sigprocmask(SIG_BLOCK, &hup, nullptr);
        if (fcntl(fd, F_SETLK, &lock) != 0 || write(pipe_ends[1], "l", 1) != 1) _exit(1);
        const timespec most{20, 0};
        _exit(sigtimedwait(&hup, nullptr, &most) == SIGHUP ? 0 : 2);
    }
    char locked = 0;
    ASSERT_EQ(read(pipe_ends[0], &locked, 1), 1);
    go_external();
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

}  // namespace
}  // namespace pbs::plugin_test
