// Tests programs of the site that run beside the server, through the plugin's C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

constexpr uint64_t kDedicated = 103;

// Traces a process. The process's parent doesn't notice its end before the tracer ends.
class Tracer {
  public:
    explicit Tracer(pid_t traced) {
        if (pipe(said_) != 0 || pipe(stays_) != 0) return;
        pid_ = fork();
        if (pid_ == 0) {
            close(stays_[1]);
            const char does = ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0 ? 'y' : 'n';
            char end = 0;
            (void)!write(said_[1], &does, 1);
            (void)!read(stays_[0], &end, 1);
            _exit(0);
        }
        char does = 'n';
        (void)!read(said_[0], &does, 1);
        traces_ = does == 'y';
    }
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;
    ~Tracer() {
        let_go();
        for (const int end : {said_[0], said_[1], stays_[0]}) close(end);
    }
    bool traces() const { return traces_; }
    void let_go() {
        if (pid_ <= 0) return;
        close(stays_[1]);
        waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

  private:
    int said_[2] = {-1, -1};
    int stays_[2] = {-1, -1};
    pid_t pid_ = -1;
    bool traces_ = false;
};

class Programs : public ::testing::Test {
  protected:
    void SetUp() override {
        host.bring_up();
        host.queue(kSubmit, "submit");
        host.queue(kBatch, "batch");
        host.queue(kDedicated, "ded");
        policy({{"algorithm", "origin"},
                {"submit_queue", "submit"},
                {"batch_queues", "batch@n1"},
                {"dedicated_queues", "ded@n1"},
                {"sort_by_past_usage", "False"},
                {"avoid_fragmentation", "False"}});
        host.vnode(kVnode, "n1", 8);
        // Make the folders accessible to the user nobody, who runs the programs when the tests run as root.
        fs::permissions(host.home(), fs::perms(0755));
        fs::create_directories(host.home() / "sched_priv");
        fs::permissions(host.home() / "sched_priv", fs::perms(0755));
        data = host.home() / "data";
        fs::create_directories(data);
        fs::permissions(data, fs::perms(0777));
    }
    void policy(const std::vector<Change>& changes) {
        const Answer done = host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", changes);
        ASSERT_EQ(done.code, 0) << done.text;
    }
    std::string program(const std::string& name, const std::string& script) {
        const fs::path path = host.home() / "sched_priv" / name;
        std::ofstream(path) << "#!/bin/sh\n" << script;
        fs::permissions(path, fs::perms(0755));
        return path.string();
    }
    // Waits until the function returns true. The host's clock doesn't change meanwhile.
    bool until(const std::function<bool()>& holds) {
        for (int i = 0; i < 1000; ++i) {
            if (holds()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    bool until_cycle_wanted() {
        return until([&] { return (host.tick() & PBS_WANT_CYCLE) != 0; });
    }
    bool until_idle() {
        return until([&] {
            host.tick();
            return host.next_deadline() > host.now;
        });
    }
    std::vector<uint64_t> started() {
        std::vector<uint64_t> jobs;
        for (const Decision& decision : host.cycle())
            if (decision.kind == PBS_DECIDE_RUN) jobs.push_back(decision.job);
        return jobs;
    }
    std::string comment_of(uint64_t job) {
        for (const Decision& decision : host.cycle())
            if (decision.job == job && decision.kind == PBS_DECIDE_COMMENT) return decision.text;
        return "(none)";
    }
    std::string words_in(const fs::path& file) const {
        std::ifstream in(file);
        std::string all;
        for (std::string word; in >> word;) all += (all.empty() ? "" : " ") + word;
        return all;
    }

    // Returns the names for which the command has been run, sorted.
    std::vector<std::string> asked() const {
        std::istringstream in(words_in(data / "asked"));
        std::vector<std::string> names(std::istream_iterator<std::string>(in), {});
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path data;  // folder in which programs may write
    FakeHost host;
};

TEST_F(Programs, DEDICATED_TIME_COMMAND_IsRunBesideTheServerAndItsAnswerHolds) {
    // The command doesn't answer before the test has seen a cycle wait for it.
    const auto go = data / "go";
    const auto command =
        program("schedule", "while ! test -e " + go.string() + "; do sleep 0.01; done\necho $1 >> " +
                                (data / "asked").string() +
                                "\n"
                                "test $1 = cluster && cat <<END\n"
                                "  CLUSTER 11/23/2026 12:00-14:00 11/23/2026  Power\n"
                                "                              supply\n"
                                "END\nexit 0\n");
    policy({{"dedicated_time_command", command},
            {"enforce_dedicated_time", "True"},
            {"dedicated_time_cache_secs", "300"},
            {"system_name", "cluster"}});
    host.job({.handle = 1, .queue = kSubmit, .walltime = 2 * 3600 + 1});
    host.job({.handle = 2, .queue = kSubmit, .walltime = 2 * 3600});
    EXPECT_EQ(comment_of(1), "Waiting for the first answer of dedicated_time_command");
    std::ofstream(go).close();
    ASSERT_TRUE(until_cycle_wanted());
    ASSERT_TRUE(until_idle());
    EXPECT_THAT(started(), ElementsAre(2u));
    EXPECT_EQ(comment_of(1), "Would run into dedicated time at Mon Nov 23 12:00:00 2026");
    EXPECT_THAT(asked(), ElementsAre("cluster", "n1")) << "once each, whatever cycles there were";
    EXPECT_EQ(host.next_deadline(), kMonday10 + 7200) << "the dedicated time begins";
    host.now += 300;
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_THAT(asked(), ElementsAre("cluster", "cluster", "n1", "n1"));
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default")["dedicated_time"], "False");
    host.now = kMonday10 + 7200;
    EXPECT_NE(host.tick() & PBS_WANT_CYCLE, 0u);
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default")["dedicated_time"], "True");
    host.job({.handle = 3, .queue = kDedicated});
    EXPECT_THAT(started(), ElementsAre(3u));
}

TEST_F(Programs, DEDICATED_TIME_CACHE_SECS_AStaleAnswerHoldsWhileTheCommandFails) {
    const auto command = program("schedule", "test -e " + (data / "fail").string() +
                                                 " && exit 3\n"
                                                 "echo N1 11/23/2026 11:00-12:00 11/23/2026\n");
    policy({{"dedicated_time_command", command},
            {"enforce_dedicated_time", "True"},
            {"dedicated_time_cache_secs", "60"}});
    host.cycle();
    ASSERT_TRUE(until_cycle_wanted());
    std::ofstream(data / "fail") << "x";
    host.now += 61;
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_TRUE(host.logged("schedule ended with status 3; the ones known before go on"));
    host.job({.handle = 1, .queue = kSubmit, .walltime = 2 * 3600});
    EXPECT_EQ(comment_of(1), "Would run into dedicated time at Mon Nov 23 11:00:00 2026");
    fs::remove(data / "fail");
    host.now += 61;
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_TRUE(host.logged("works again"));
}

TEST_F(Programs, DEDICATED_TIME_COMMAND_ThatHangsIsEndedAfterItsTimeLimitAndHoldsUpNobody) {
    const auto command = program("schedule", "echo $$ > " + (data / "pid").string() + "\nsleep 1000\n");
    policy({{"dedicated_time_command", command}, {"enforce_dedicated_time", "True"}});
    host.job({.handle = 1, .queue = kSubmit});
    EXPECT_THAT(started(), IsEmpty());
    ASSERT_TRUE(until([&] { return !words_in(data / "pid").empty(); }));
    EXPECT_EQ(host.tick() & PBS_WANT_CYCLE, 0u);
    host.now += 20;
    EXPECT_TRUE((host.tick() & PBS_WANT_CYCLE) != 0);
    EXPECT_TRUE(host.logged("did not end within 20 seconds; none are observed"));
    const pid_t pid = std::stoi(words_in(data / "pid"));
    EXPECT_TRUE(until([&] {
        host.tick();
        return kill(pid, 0) != 0;
    }));
    EXPECT_THAT(started(), ElementsAre(1u));
}

// A killed process may take a while to end. Here that is so because it is traced.
TEST_F(Programs, DEDICATED_TIME_COMMAND_ThatIsSlowToEndLeavesNoProcess) {
    // The traced process is the shell that reports the program's status: the shell is the server's child.
    const auto command = program("schedule", "echo $PPID > " + (data / "pid").string() + "\nsleep 1000\n");
    policy({{"dedicated_time_command", command}, {"enforce_dedicated_time", "True"}});
    host.cycle();
    ASSERT_TRUE(until([&] { return !words_in(data / "pid").empty(); }));
    const pid_t pid = std::stoi(words_in(data / "pid"));
    Tracer tracer(pid);
    if (!tracer.traces()) GTEST_SKIP() << "the kernel lets nobody trace here";
    host.now += 20;
    host.tick();
    EXPECT_TRUE(host.logged("did not end within 20 seconds")) << "nobody waits for its end";
    EXPECT_EQ(kill(pid, 0), 0);
    EXPECT_LE(host.next_deadline(), host.now + 1) << "it is looked for";
    tracer.let_go();
    EXPECT_TRUE(until([&] {
        host.tick();
        return kill(pid, 0) != 0;
    }));
}

TEST_F(Programs, DEDICATED_TIME_COMMAND_OutputThatIsNoListIsTold) {
    const auto command = program("schedule", "echo 'schedule: no server'\n");
    policy({{"dedicated_time_command", command}, {"enforce_dedicated_time", "True"}});
    host.cycle();
    ASSERT_TRUE(until_cycle_wanted());
    EXPECT_TRUE(host.logged("line 1: `schedule: no server`: expected `NAME MM/DD/YYYY HH:MM-HH:MM"));
}

TEST_F(Programs, DEDICATED_TIME_COMMAND_ThatOthersCouldChangeIsNotRun) {
    const auto command = program("schedule", "touch " + (data / "ran").string() + "\n");
    policy({{"dedicated_time_command", command}, {"enforce_dedicated_time", "True"}});
    fs::permissions(command, fs::perms(0777));
    host.cycle();
    EXPECT_TRUE(host.logged("is writable by others than its owner"));
    ASSERT_TRUE(until_idle());
    EXPECT_FALSE(fs::exists(data / "ran"));
}

TEST_F(Programs, DEDICATED_TIME_COMMAND_IsNotRunAsRoot) {
    if (geteuid() != 0) GTEST_SKIP() << "the server's user is an ordinary one already";
    const auto command = program(
        "schedule", "id -un > " + (data / "user").string() + "\nid -G >> " + (data / "user").string() + "\n");
    policy({{"dedicated_time_command", command}, {"enforce_dedicated_time", "True"}});
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_EQ(words_in(data / "user"), "nobody 65534");
}

// ---- Performance counters. The test's program hpm_ctl stores the counters' mode in a file.

class HpmCounters : public Programs {
  protected:
    void SetUp() override {
        Programs::SetUp();
        std::ofstream(data / "mode") << "global";
        const std::string mode = (data / "mode").string();
        const std::string held = (data / "held").string();
        policy({{"manage_hpm_counters", "True"},
                {"hpm_ctl", program("hpm_ctl", "echo $1 >> " + (data / "asked").string() +
                                                   "\n"
                                                   "case $1 in\n"
                                                   "query) cat " +
                                                   mode +
                                                   ";;\n"
                                                   "revoke) rm -f " +
                                                   held +
                                                   ";;\n"
                                                   "global) test -e " +
                                                   held + " && echo FAILED && exit; echo global > " + mode +
                                                   "; echo OKAY;;\n"
                                                   "user) echo user > " +
                                                   mode + "; echo OKAY;;\nesac\n")}});
    }
    std::string mode() const { return words_in(data / "mode"); }
    std::string asked() const { return words_in(data / "asked"); }
    // Runs a job that uses the counters, from its submission to its end.
    void run_job() {
        host.job({.handle = 1, .queue = kSubmit, .hpm = 1});
        EXPECT_THAT(started(), IsEmpty());
        ASSERT_TRUE(until_cycle_wanted());
        EXPECT_EQ(mode(), "user");
        EXPECT_THAT(started(), ElementsAre(1u));
        host.job({.handle = 1, .queue = kBatch, .state = 'R', .vnode = kVnode, .hpm = 1});
        host.cycle();
        ASSERT_TRUE(until_idle());
        EXPECT_EQ(mode(), "user") << "while it runs";
        host.job_removed(1);
    }
};

TEST_F(HpmCounters, MANAGE_HPM_COUNTERS_AreInUserModeForTheJobsThatAskForThem) {
    run_job();
    EXPECT_EQ(asked(), "query user");
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_EQ(mode(), "global");
    EXPECT_EQ(asked(), "query user query global");
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_EQ(asked(), "query user query global") << "nothing is left to do";
}

// Managers, who need not be root, may choose another program. So only the administrator's program runs as
// root.
TEST_F(HpmCounters, MANAGE_HPM_COUNTERS_OnlyTheAdministratorsProgramRunsAsRoot) {
    if (geteuid() != 0) GTEST_SKIP() << "the server's user is an ordinary one already";
    const std::string script = "id -un > " + (data / "user").string() + "\necho unclear\n";
    const std::string own = program("hpm_ctl", script);
    const std::string other = program("other", script);
    fs::create_directories(host.home() / "sched_priv_2");
    fs::copy(own, host.home() / "sched_priv_2/hpm_ctl");
    for (const auto& [path, user] : {std::pair(own, "root"), std::pair(other, "nobody"),
                                     std::pair((host.home() / "sched_priv_2/hpm_ctl").string(), "nobody")}) {
        fs::remove(data / "user");
        policy({{"hpm_ctl", path}});
        host.cycle();
        ASSERT_TRUE(until_idle());
        EXPECT_EQ(words_in(data / "user"), user) << path;
    }
}

TEST_F(HpmCounters, REVOKE_HPM_COUNTERS_TakesThemFromProcessesThatHoldThem) {
    run_job();
    std::ofstream(data / "held") << "x";
    fs::permissions(data / "held", fs::perms(0666));
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_EQ(mode(), "user");
    EXPECT_TRUE(host.logged("hpm_ctl global answers `FAILED`, expected OKAY"));
    EXPECT_THAT(asked(), testing::Not(HasSubstr("revoke")));
    policy({{"revoke_hpm_counters", "True"}});
    host.cycle();
    ASSERT_TRUE(until_idle());
    EXPECT_EQ(mode(), "global");
    EXPECT_THAT(asked(), HasSubstr("query global revoke global"));
}

TEST_F(HpmCounters, MANAGE_HPM_COUNTERS_AnUnknownModeIsChangedAllTheSame) {
    std::ofstream(data / "mode") << "???";
    run_job();
    EXPECT_EQ(asked(), "query user");
}

// ---- Amounts that programs report (server_dyn_res), for the resource `hpm`, which isn't consumable here.

class ServerDynRes : public Programs {
  protected:
    void SetUp() override {
        Programs::SetUp();
        policy({{"algorithm", "standard"}, {"help_starving_jobs", "False"}});
    }
    // Makes a program for server_dyn_res that also notes each of its runs.
    void tell_by(const std::string& script, const std::string& arguments = {}) {
        const auto path = program("tell", "echo run >> " + (data / "runs").string() + "\n" + script);
        policy({{"server_dyn_res", "hpm !" + path + arguments}});
    }
    void ask_for(uint64_t handle, int64_t amount) {
        host.job({.handle = handle, .queue = kSubmit, .ncpus = 1, .hpm = amount});
    }
    // Runs a cycle. If the cycle was put off, runs another one when the programs have reported.
    std::vector<Decision> decisions() {
        std::vector<Decision> first = host.cycle();
        if (!first.empty() || !until_cycle_wanted()) return first;
        return host.cycle(PBS_SCH_SCHEDULE_TIME);
    }
    std::vector<uint64_t> started_by_it() {
        std::vector<uint64_t> jobs;
        for (const Decision& decision : decisions())
            if (decision.kind == PBS_DECIDE_RUN) jobs.push_back(decision.job);
        return jobs;
    }
    std::size_t runs() const {
        const std::string words = words_in(data / "runs");
        return static_cast<std::size_t>(std::count(words.begin(), words.end(), 'r'));
    }
    void run(uint64_t handle, int64_t amount) {
        host.job(
            {.handle = handle, .queue = kSubmit, .state = 'R', .ncpus = 1, .vnode = kVnode, .hpm = amount});
    }
};

TEST_F(ServerDynRes, SERVER_DYN_RES_ACycleWaitsForTheAmountAndJobsTakeOfIt) {
    const auto may_end = data / "may_end";
    tell_by("until [ -e " + may_end.string() + " ]; do sleep 0.01; done\necho 4\n");
    host.job({.handle = 9, .queue = kSubmit, .ncpus = 1});
    EXPECT_THAT(started(), ElementsAre(9u)) << "nobody asks for the resource";
    EXPECT_EQ(runs(), 0u);
    host.job_removed(9);
    ask_for(1, 3);
    ask_for(2, 3);
    EXPECT_THAT(host.cycle(), IsEmpty()) << "it is put off, and the server isn't held up";
    std::ofstream(may_end) << "now";
    ASSERT_TRUE(until_cycle_wanted());
    const auto decided = host.cycle(PBS_SCH_SCHEDULE_TIME);
    EXPECT_THAT(decided, testing::Contains(testing::Field(&Decision::job, 1u)));
    EXPECT_THAT(decided, testing::Contains(testing::Field(
                             &Decision::text,
                             "Not Running: Insufficient amount of server resource: hpm (R: 3 A: 1 T: 4)")));
    EXPECT_EQ(runs(), 1u) << "once for the cycle that waited and the one that began";
    run(1, 3);
    EXPECT_THAT(started_by_it(), ElementsAre(2u)) << "the program says again what there is";
    EXPECT_EQ(runs(), 2u);
}

// A report that no cycle used isn't kept for a later one.
TEST_F(ServerDynRes, SERVER_DYN_RES_AReportThatNoCycleWaitsForIsAskedForAnew) {
    const auto amount = data / "amount";
    tell_by("cat " + amount.string() + "\n");
    const auto report = [&](int value) {
        std::ofstream(amount) << value << "\n";
        EXPECT_THAT(host.cycle(), IsEmpty()) << "it is put off";
        EXPECT_TRUE(until_cycle_wanted());
    };
    ask_for(1, 5);
    report(4);
    host.job_removed(1);
    host.job({.handle = 9, .queue = kSubmit, .ncpus = 1});
    EXPECT_THAT(started(), ElementsAre(9u)) << "nobody asks for the resource any more";
    host.job_removed(9);
    std::ofstream(amount) << "6\n";
    ask_for(2, 5);
    EXPECT_THAT(started_by_it(), ElementsAre(2u));
    host.job_removed(2);
    ask_for(3, 7);
    report(6);
    host.tell_of_sched(0);
    host.tell_of_sched(1);
    std::ofstream(amount) << "9\n";
    EXPECT_THAT(started_by_it(), ElementsAre(3u)) << "scheduling was off";
    EXPECT_EQ(runs(), 4u);
}

TEST_F(ServerDynRes, SERVER_DYN_RES_WhatFailsCountsAs0AndIsToldOnce) {
    for (const auto& [script, why] : {std::pair("exit 3\n", "tell ended with status 3"),
                                      {"echo many\n", "tell tells 'many', expected an amount"},
                                      {"", "tell tells '', expected an amount"},
                                      {"echo 7 x\n", "tell tells '7 x', expected an amount"}}) {
        tell_by(script);
        ask_for(1, 1);
        for (int again = 0; again < 2; ++again) EXPECT_THAT(started_by_it(), IsEmpty()) << script;
        EXPECT_EQ(std::count_if(host.log.begin(), host.log.end(),
                                [&, part = std::string(why)](const std::string& line) {
                                    return line.find("There is nothing of hpm: ") != std::string::npos &&
                                           line.find(part) != std::string::npos;
                                }),
                  1)
            << script;
    }
    tell_by("echo 7\n");
    EXPECT_THAT(started_by_it(), ElementsAre(1u));
}

TEST_F(ServerDynRes, SERVER_DYN_RES_AProgramThatHangsIsKilledWithAllItStartedAndNotRunAgainAtOnce) {
    tell_by("sleep 1000 & echo $$ $! > " + (data / "pids").string() + "\nwait\n");
    ask_for(1, 1);
    host.job({.handle = 2, .queue = kSubmit, .ncpus = 1});
    EXPECT_THAT(host.cycle(), IsEmpty());
    ASSERT_TRUE(until([&] { return !words_in(data / "pids").empty(); }));
    host.now += 29;
    EXPECT_EQ(host.tick() & PBS_WANT_CYCLE, 0u);
    host.now += 1;
    EXPECT_NE(host.tick() & PBS_WANT_CYCLE, 0u) << "30 seconds are the default";
    EXPECT_TRUE(host.logged("There is nothing of hpm: "));
    EXPECT_TRUE(host.logged("tell did not end within 30 seconds"));
    std::istringstream pids(words_in(data / "pids"));
    for (pid_t pid = 0; pids >> pid;)
        EXPECT_TRUE(until([&] {
            host.tick();
            return kill(pid, 0) != 0 ||
                   words_in("/proc/" + std::to_string(pid) + "/stat").find(" Z ") != std::string::npos;
        }));
    EXPECT_THAT(started(), ElementsAre(2u));
    EXPECT_EQ(runs(), 1u);
    host.now += 60;
    host.job_removed(2);
    EXPECT_THAT(host.cycle(), testing::Not(IsEmpty())) << "no cycle waits for it for some minutes";
    EXPECT_EQ(runs(), 1u);
}

TEST_F(ServerDynRes, SERVER_DYN_RES_ALARM_IsTheTimeThatAProgramMayTakeOr0ForAnyTime) {
    tell_by("sleep 1000\n");
    policy({{"server_dyn_res_alarm", "90"}});
    ask_for(1, 1);
    EXPECT_THAT(host.cycle(), IsEmpty());
    host.now += 89;
    EXPECT_EQ(host.tick() & PBS_WANT_CYCLE, 0u);
    host.now += 1;
    EXPECT_NE(host.tick() & PBS_WANT_CYCLE, 0u);
    EXPECT_TRUE(host.logged("tell did not end within 90 seconds"));
    const auto may_end = data / "may_end";
    tell_by("until [ -e " + may_end.string() + " ]; do sleep 0.01; done\necho 4\n", " patiently");
    policy({{"server_dyn_res_alarm", "0"}});
    EXPECT_THAT(host.cycle(), IsEmpty());
    host.now += 100000;
    EXPECT_EQ(host.tick() & PBS_WANT_CYCLE, 0u);
    std::ofstream(may_end) << "now";
    ASSERT_TRUE(until_cycle_wanted());
    EXPECT_THAT(started(), ElementsAre(1u));
}

// Managers, who need not be root, choose the programs. So the programs get no rights and no data of the
// server.
TEST_F(ServerDynRes, SERVER_DYN_RES_RunsWithNothingOfTheServers) {
    setenv("SECRET", "of the server", 1);
    tell_by("{ env; id -un; id -G; pwd; readlink /proc/$$/fd/0; ls /proc/$$/fd | wc -w; } > " +
                (data / "seen").string() + "\necho $1 > " + (data / "argument").string() + "\necho 1\n",
            " '$(id) | cat'");
    ask_for(1, 1);
    EXPECT_THAT(started_by_it(), ElementsAre(1u));
    const std::string seen = words_in(data / "seen");
    EXPECT_THAT(seen, testing::Not(HasSubstr("SECRET")));
    EXPECT_THAT(seen, HasSubstr("/dev/null"));
    if (geteuid() == 0) EXPECT_THAT(seen, HasSubstr("nobody 65534 /"));
    EXPECT_EQ(words_in(data / "argument"), "$(id) | cat") << "no shell reads it";
    unsetenv("SECRET");
}

TEST_F(ServerDynRes, SERVER_DYN_RES_NeitherInterpretersNorFilesOfOthersMayBeSet) {
    const auto refused = [&](const std::string& value) {
        return host.set(PBS_OBJ_POLICY, "default_policy", "server_dyn_res", value).text;
    };
    EXPECT_THAT(refused("hpm !/bin/sh -c 'echo 5'"),
                HasSubstr("program of the system, which may have no arguments"));
    const auto open = program("open", "echo 5\n");
    fs::permissions(open, fs::perms(0777));
    EXPECT_THAT(refused("hpm !" + open), HasSubstr("writable by others"));
    // A program that becomes writable by others after the policy was set isn't run, either.
    tell_by("echo 5\n");
    fs::permissions(host.home() / "sched_priv/tell", fs::perms(0777));
    ask_for(1, 1);
    EXPECT_THAT(started(), IsEmpty());
    EXPECT_EQ(runs(), 0u);
    EXPECT_TRUE(host.logged("writable by others than its owner"));
}

// The plugin may run in OpenPBS's server, which waits for every child. So the status of a child may be lost.
TEST_F(ServerDynRes, SERVER_DYN_RES_HowOneEndedIsKnownThoughSomebodyElseWaitedForIt) {
    const auto before = signal(SIGCHLD, SIG_IGN);
    tell_by("echo 3\n");
    ask_for(1, 3);
    EXPECT_THAT(started_by_it(), ElementsAre(1u));
    run(1, 3);
    ask_for(2, 1);
    for (const auto& [script, why] : {std::pair("echo 5\nexit 3\n", "tell ended with status 3"),
                                      {"echo 5\nkill -9 $$\n", "tell was ended by signal 9"},
                                      {"echo 5\nkill -9 $PPID\nsleep 100\n", "tell was lost"}}) {
        tell_by(script);
        if (geteuid() == 0 && std::string_view(why) == "tell was lost")
            continue;  // the program runs as nobody, who may not kill the shell
        EXPECT_THAT(started_by_it(), IsEmpty()) << script;
        EXPECT_TRUE(host.logged(why)) << why;
    }
    signal(SIGCHLD, before);
}

TEST_F(ServerDynRes, SERVER_DYN_RES_EndlessOutputIsAFailure) {
    tell_by("yes 5\n");
    ask_for(1, 1);
    EXPECT_THAT(started_by_it(), IsEmpty());
    EXPECT_TRUE(host.logged("writes more than 1048576 bytes"));
}

// Programs of server_dyn_res that were in root's sched_config before the first start.
class RootPrograms : public ServerDynRes {
  protected:
    void SetUp() override {
        fs::create_directories(host.home() / "sched_priv");
        data = host.home() / "data";
        tell = program("tell", "{ id -un; pwd; echo $SECRET $LD_SECRET \"$@\"; } > " +
                                   (data / "seen").string() + "\necho 4\n");
        fs::permissions(tell, fs::perms(0700));
        listed = "hpm !" + tell + " a $((1+1)) | head -n 1";
        host.write("sched_priv/sched_config", "server_dyn_res: \"" + listed + "\"\n");
        prepare();
        setenv("SECRET", "of_the_server", 1);
        setenv("LD_SECRET", "no", 1);
        ServerDynRes::SetUp();
        ask_for(1, 1);
    }
    void TearDown() override {
        unsetenv("SECRET");
        unsetenv("LD_SECRET");
    }
    virtual void prepare() {}
    std::string value() { return host.status(PBS_OBJ_POLICY, "default_policy").value("server_dyn_res"); }
    // Returns the lines of the list root_programs, without comments.
    std::string list() const {
        std::istringstream in(host.read("server_priv/root_programs"));
        std::string out;
        for (std::string line; std::getline(in, line);)
            if (!line.starts_with('#')) out += line;
        return out;
    }
    // Runs a cycle. Returns whether the program ran with the rights of the server's user.
    bool ran_as_before() {
        fs::remove(data / "seen");
        (void)started_by_it();
        return !words_in(data / "seen").empty();
    }
    std::string report() const { return host.read("server_priv/migration_report"); }

    std::string tell;
    std::string listed;
};

TEST_F(RootPrograms, RunAsTheyDidUnderPbsSched) {
    EXPECT_EQ(list(), listed);
    struct stat file {};
    ASSERT_EQ(stat((host.home() / "server_priv/root_programs").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0600U);
    EXPECT_EQ(value(), listed);
    EXPECT_THAT(report(), testing::Not(HasSubstr("without root's rights")));
    EXPECT_THAT(started_by_it(), ElementsAre(1u)) << testing::PrintToString(host.log);
    const std::string seen = words_in(data / "seen");
    EXPECT_THAT(seen, HasSubstr((host.home() / "sched_priv").string() + " of_the_server a 2"));
    if (geteuid() == 0) EXPECT_THAT(seen, HasSubstr("root "));
}

// A manager's settings never make a program run with root's rights.
TEST_F(RootPrograms, AManagerChangesNothingOfThem) {
    if (geteuid() != 0) GTEST_SKIP() << "programs run as the server's user already";
    const std::string before = list();
    for (const std::string& other :
         {"hpm !" + tell, "hpm !" + tell + " a $((1+1)) | head -n 2", "hpm !" + tell + " c",
          "ncpus !" + tell + " a $((1+1)) | head -n 1", "hpm !" + tell + " a $((1+1)) | head -n 1 "}) {
        const Answer set = host.set(PBS_OBJ_POLICY, "default_policy", "server_dyn_res", other);
        if (set.code == 0 && value() != listed) EXPECT_FALSE(ran_as_before()) << other;
    }
    EXPECT_TRUE(host.logged("tell runs as nobody, who may not execute it: its mode is 0700"));
    EXPECT_EQ(list(), before);
    // Name the same program by a link.
    fs::create_symlink(tell, host.home() / "sched_priv/same");
    (void)host.set(PBS_OBJ_POLICY, "default_policy", "server_dyn_res",
                   "hpm !" + (host.home() / "sched_priv/same").string());
    EXPECT_FALSE(ran_as_before());
    // A manager may remove a listed line, and set it again with its arguments.
    policy({{"server_dyn_res", listed}});
    EXPECT_TRUE(ran_as_before());
}

TEST_F(RootPrograms, AreThoseOfAListThatRootAloneMayChange) {
    if (geteuid() != 0) GTEST_SKIP() << "programs run as the server's user already";
    const fs::path file = host.home() / "server_priv/root_programs";
    for (const auto& [path, mode] : {std::pair(file, 0660), {file.parent_path(), 0777}}) {
        struct stat before {};
        ASSERT_EQ(stat(path.c_str(), &before), 0);
        fs::permissions(path, fs::perms(mode));
        EXPECT_FALSE(ran_as_before()) << path;
        EXPECT_TRUE(host.logged("root_programs doesn't count, so its programs run as nobody: " +
                                path.string() + " is writable by others than its owner"));
        fs::permissions(path, fs::perms(before.st_mode & 07777));
        EXPECT_TRUE(ran_as_before()) << path;
    }
    ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(ran_as_before());
    ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
    // Root removes the line from the list.
    host.write("server_priv/root_programs", "# none\n");
    EXPECT_FALSE(ran_as_before());
    // The program's permissions are checked before each run.
    host.write("server_priv/root_programs", "  " + listed + "  \n");
    EXPECT_TRUE(ran_as_before());
    fs::permissions(tell, fs::perms(0777));
    EXPECT_FALSE(ran_as_before());
    EXPECT_TRUE(host.logged("tell is writable by others than its owner"));
    fs::permissions(tell, fs::perms(0700));
    // The folders above the program have to belong to a system group, as in OpenPBS.
    ASSERT_EQ(chown((host.home() / "sched_priv").c_str(), 0, 1000), 0);
    EXPECT_FALSE(ran_as_before());
    EXPECT_TRUE(host.logged("sched_priv is of group 1000, expected a group from 0 to 9"));
}

class RootProgramsOfOthers : public RootPrograms {
  protected:
    void prepare() override { fs::permissions(host.home() / "sched_priv/sched_config", fs::perms(0666)); }
};

TEST_F(RootProgramsOfOthers, AFileThatOthersMayChangeIsNoConsentOfRoots) {
    EXPECT_FALSE(fs::exists(host.home() / "server_priv/root_programs"));
    EXPECT_TRUE(host.logged("its programs of server_dyn_res run as nobody"));
    if (value().empty()) return;  // the file wasn't migrated
    EXPECT_THAT(report(), HasSubstr("runs without root's rights unless server_priv/root_programs lists it"));
    if (geteuid() == 0) EXPECT_FALSE(ran_as_before());
}

}  // namespace
}  // namespace pbs::plugin_test
