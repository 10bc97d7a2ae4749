// Runs real jobs with real shepherds. The runner starts /proc/self/exe as the shepherd, which is this
// program.
#include "server_plugin/host/run/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "server_plugin/host/base/home.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/launcher.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"
#include "server_plugin/host/run/shepherd.h"
#include "server_plugin/host/run/shepherd_protocol.h"
#include "tests/failing_allocations.h"
#include "tests/failing_lookups.h"
#include "tests/file_text.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

std::string contents(const fs::path& path) {
    return pbs::test::file_text(path);
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 20s) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

long number(const std::string& text) {
    return std::strtol(text.c_str(), nullptr, 10);
}

// Returns the first line of the text that begins with `begin`. For example, TMPDIR has a name that varies
// between tests that run at the same time.
std::string line_with(const std::string& text, const std::string& begin) {
    const auto at = ("\n" + text).find("\n" + begin);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

bool alive(pid_t pid) {
    const auto process = read_process(pid);
    return process && process->state != 'Z';
}

// Waits until a job has written a pid to a file. Returns the pid.
pid_t pid_in(const fs::path& path) {
    eventually([&] { return contents(path).find('\n') != std::string::npos; });
    return static_cast<pid_t>(number(contents(path)));
}

class RunnerTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string path = testing::TempDir() + "pbs_runner.XXXXXX";
        ASSERT_NE(::mkdtemp(path.data()), nullptr);
        top_ = path;
        ::chmod(path.c_str(), 0755);
        const auto home = Home::open(path + "/home");
        ASSERT_TRUE(home) << home.error().message;
        home_ = home->path();
        work_ = path + "/work";
        fs::create_directory(work_);
        owner_ = *::getpwuid(::geteuid());
        runner_ = new_runner();
    }
    void TearDown() override {
        runner_.reset();
        if (!HasFailure()) fs::remove_all(top_);
    }

    std::unique_ptr<Runner> new_runner(const std::string& program = "/proc/self/exe") const {
        auto runner = Runner::create(
            {.home = home_, .program = program, .host_name = "localhost", .control_groups = control_groups_});
        EXPECT_TRUE(runner);
        return std::move(*runner);
    }

    JobStart job(const std::string& script, const std::string& id = "1.test", std::int64_t run = 1) const {
        JobStart job;
        job.id = {id, run};
        job.name = "work";
        job.queue = "batch";
        job.user = owner_.pw_name;
        job.uid = owner_.pw_uid;
        job.gid = owner_.pw_gid;
        job.shell = "/bin/sh";
        job.script = script;
        job.variables = {{"PBS_O_WORKDIR", work_}, {"PBS_O_HOST", "localhost"}};
        job.hosts = {"localhost"};
        return job;
    }

    // Waits for the next report for which `wanted` returns true. Keeps other reports for later calls. Fails
    // the test after `limit`.
    RunReport wait_for(Runner& runner, const std::function<bool(const RunReport&)>& wanted,
                       std::chrono::milliseconds limit = 30s) {
        const auto until = std::chrono::steady_clock::now() + limit;
        auto& seen = seen_[&runner];
        while (std::chrono::steady_clock::now() < until) {
            const auto found = std::find_if(seen.begin(), seen.end(), wanted);
            if (found != seen.end()) {
                RunReport report = *found;
                seen.erase(found);
                return report;
            }
            pollfd readable{runner.event_fd(), POLLIN, 0};
            ::poll(&readable, 1, 100);
            for (auto& report : runner.events()) seen.push_back(std::move(report));
        }
        ADD_FAILURE() << "no such event in time";
        return {};
    }
    RunReport wait_end(Runner& runner) {
        return wait_for(runner, [](const RunReport& report) { return report.state != RunState::running; });
    }
    RunReport wait_end() { return wait_end(*runner_); }
    RunReport wait_running(Runner& runner) {
        return wait_for(runner, [](const RunReport& report) { return report.state == RunState::running; });
    }

    RunReport run(const JobStart& job) {
        const auto started = runner_->start(job);
        EXPECT_TRUE(started) << started.error().message;
        return wait_end();
    }

    // Forks a process that starts the job, as a server does, and is then killed.
    void start_and_die(const JobStart& job, bool wait_until_it_runs) {
        const pid_t server = ::fork();
        if (server == 0) {
            const auto runner = new_runner();
            if (!runner->start(job)) ::_exit(1);
            if (wait_until_it_runs) wait_running(*runner);
            ::raise(SIGKILL);
        }
        int status = 0;
        ::waitpid(server, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
    }

    pid_t shepherd_of(const RunId& id) const {
        const int fd = ::open(RunFiles(home_, id).started().c_str(), O_RDWR | O_CLOEXEC);
        const pid_t pid = lock_holder(fd, kShepherdByte);
        ::close(fd);
        return pid;
    }

    // Stops a job's launcher once the job runs, so that it can start no other job. Returns the launcher's
    // pid.
    pid_t stop_launcher_of(const RunId& id) {
        wait_running(*runner_);
        const pid_t launcher = launcher_of(id);
        ::kill(launcher, SIGSTOP);
        return launcher;
    }
    // Ends a job, and waits until it has written its last file.
    void end(const RunId& id) {
        EXPECT_TRUE(runner_->terminate(id, 0s));
        wait_for(*runner_, [&](const RunReport& report) {
            return report.id == id && report.state != RunState::running;
        });
    }
    // Calls `attempt` with the stopped launcher and a job, while it makes one allocation after the other
    // fail: the first, the second and so on, until none has failed (`happened` is false).
    void with_stopped_launcher(
        const std::function<void(pid_t launcher, const JobStart& start, long at, bool& happened)>& attempt) {
        const JobStart first = job("sleep 100\n", "first.test");
        ASSERT_TRUE(runner_->start(first));
        const pid_t launcher = stop_launcher_of(first.id);
        bool happened = true;
        for (long at = 1; happened && !HasFailure(); ++at) {
            SCOPED_TRACE(fmt::format("allocation {}", at));
            ::kill(launcher, SIGSTOP);
            const JobStart start = job("sleep 100\n", fmt::format("{}.asked.test", at));
            attempt(launcher, start, at, happened);
            runner_->forget(start.id);
        }
        ::kill(launcher, SIGCONT);
        end(first.id);
    }
    pid_t launcher_of(const RunId& id) const {
        const pid_t warden = read_process(shepherd_of(id))->parent;
        return read_process(warden)->parent;
    }

    fs::path top_;
    // Returns the outcome of a start as recover() reports it; waits for the end of a job that runs.
    RunReport recovered(const RunId& id) {
        auto report = runner_->recover({id}, nullptr).at(0);
        return report.state == RunState::running ? wait_end() : report;
    }

    bool control_groups_ = true;
    std::string home_;
    std::string work_;
    passwd owner_{};
    std::unique_ptr<Runner> runner_;
    std::map<const Runner*, std::vector<RunReport>> seen_;
};

TEST_F(RunnerTest, RunsAScriptAndKeepsItsOutputAndExitStatus) {
    const auto end = run(job("echo to stdout; echo to stderr >&2; exit 7\n"));
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, 7);
    EXPECT_EQ(end.exit.message, "");
    EXPECT_GT(end.exit.session, 0);
    EXPECT_EQ(contents(work_ + "/work.o1"), "to stdout\n");
    EXPECT_EQ(contents(work_ + "/work.e1"), "to stderr\n");
    EXPECT_EQ(fs::status(work_ + "/work.o1").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// Finds a user who is in a group besides his own.
std::optional<std::string> user_with_groups() {
    std::optional<std::string> found;
    ::setgrent();
    while (const group* one = ::getgrent())
        for (char** member = one->gr_mem; *member != nullptr && !found; ++member)
            if (const passwd* entry = ::getpwnam(*member);
                entry != nullptr && entry->pw_uid != 0 && ::access(entry->pw_dir, X_OK) == 0)
                found = *member;
    ::endgrent();
    return found;
}

TEST_F(RunnerTest, AJobHasTheGroupsOfItsOwnerAndNoneOfTheServer) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can run a job of another user";
    const std::string user = user_with_groups().value_or("nobody");
    owner_ = *::getpwnam(user.c_str());
    std::vector<gid_t> before(static_cast<std::size_t>(::getgroups(0, nullptr)));
    ::getgroups(static_cast<int>(before.size()), before.data());
    const std::vector<gid_t> of_server = {0, 54321};
    ASSERT_EQ(::setgroups(of_server.size(), of_server.data()), 0);
    ::chmod(work_.c_str(), 0777);
    JobStart job = this->job("id -G >" + work_ + "/groups");
    job.output_path = work_ + "/out";
    const auto report = run(job);
    ::setgroups(before.size(), before.data());
    EXPECT_EQ(report.exit.exit_status, 0) << contents(work_ + "/out");
    std::vector<gid_t> groups(100);
    int count = static_cast<int>(groups.size());
    if (::getgrouplist(user.c_str(), owner_.pw_gid, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(count));
        ASSERT_GT(::getgrouplist(user.c_str(), owner_.pw_gid, groups.data(), &count), 0);
    }
    std::set<std::string> expected;
    for (int i = 0; i < count; ++i) expected.insert(std::to_string(groups[static_cast<std::size_t>(i)]));
    std::istringstream words(contents(work_ + "/groups"));
    EXPECT_EQ(std::set<std::string>(std::istream_iterator<std::string>(words), {}), expected) << user;
    const fs::path output = work_ + "/out";
    struct stat info {};
    ASSERT_EQ(::stat(output.c_str(), &info), 0);
    EXPECT_EQ(info.st_gid, owner_.pw_gid);
}

TEST_F(RunnerTest, RunsALoginShellUnlessTheSiteWantsNone) {
    const std::string script = "tr '\\0' ' ' </proc/$$/cmdline\n";
    EXPECT_EQ(run(job(script)).exit.exit_status, 0);
    EXPECT_THAT(contents(work_ + "/work.o1"), testing::StartsWith("-sh /"));
    JobStart plain = job(script, "2.test");
    plain.plain_shell = true;
    EXPECT_EQ(run(plain).exit.exit_status, 0);
    EXPECT_THAT(contents(work_ + "/work.o2"), testing::StartsWith("sh /"));
}

TEST_F(RunnerTest, TellsTheSessionWhileTheJobRuns) {
    ASSERT_TRUE(
        runner_->start(job("ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/$$/stat\nsleep 0.2\n")));
    const auto running = wait_running(*runner_);
    EXPECT_GT(running.session, 1);
    EXPECT_EQ(wait_end().exit.session, running.session);
    EXPECT_TRUE(seen_[runner_.get()].empty()) << "it is told once";
    EXPECT_EQ(number(contents(work_ + "/work.o1")), running.session);
}

TEST_F(RunnerTest, GivesTheJobPbsEnvironment) {
    // Give the job, and so its folder, a name that no other test has at the same time.
    const std::string id = fmt::format("1.test{}", getpid());
    auto start = job("env; pwd; cat $PBS_NODEFILE; readlink /proc/$$/fd/0; ls -d $TMPDIR\n", id);
    start.variables.insert(start.variables.end(),
                           {{"MINE", "a=b c,d\n"}, {"HOME", "/not/this"}, {"PBS_O_QUEUE", "q"}});
    start.hosts = {"node1", "node2"};
    start.threads = 3;
    start.account = "acct";
    run(start);
    const auto text = contents(work_ + "/work.o1");
    for (const auto* line : {"PBS_JOBNAME=work\n", "PBS_QUEUE=batch\n", "PBS_ENVIRONMENT=PBS_BATCH\n",
                             "PBS_ACCOUNT=acct\n", "NCPUS=3\n", "OMP_NUM_THREADS=3\n", "MINE=a=b c,d\n",
                             "PBS_O_QUEUE=q\n", "node1\nnode2\n/dev/null\n"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(text, HasSubstr("PBS_JOBID=" + id + "\n"));
    const std::string home = owner_.pw_dir;
    EXPECT_THAT(text, HasSubstr("\nHOME=" + home + "\n"));
    EXPECT_THAT(text, HasSubstr("\n" + home + "\n"));  // pwd: PBS starts jobs in the home directory
    EXPECT_THAT(text, HasSubstr("LOGNAME=" + std::string(owner_.pw_name) + "\n"));
    const auto tmp_dir = line_with(text, "/var/tmp/pbs." + id);
    EXPECT_NE(tmp_dir, "");
    EXPECT_FALSE(fs::exists(tmp_dir));  // it was removed with the job
}

TEST_F(RunnerTest, TakesSettingsFromThePbsEnvironmentFile) {
    std::ofstream(home_ + "/pbs_environment") << "# site\nSITE=here\nPATH=/bin:/usr/bin:/site\n";
    run(job("echo $SITE; echo $PATH\n"));
    EXPECT_THAT(contents(work_ + "/work.o1"), testing::StartsWith("here\n"));
}

TEST_F(RunnerTest, JoinsStderrToStdoutAndTheOtherWayRound) {
    auto start = job("echo one; echo two >&2; echo three\n");
    start.join = "oe";
    run(start);
    EXPECT_EQ(contents(work_ + "/work.o1"), "one\ntwo\nthree\n");
    EXPECT_FALSE(fs::exists(work_ + "/work.e1"));
    start = job("echo one; echo two >&2; echo three\n", "2.test");
    start.join = "eo";
    run(start);
    EXPECT_EQ(contents(work_ + "/work.e2"), "one\ntwo\nthree\n");
    EXPECT_FALSE(fs::exists(work_ + "/work.o2"));
}

TEST_F(RunnerTest, WritesOutputWhereTheJobAskedForIt) {
    fs::create_directory(work_ + "/dir");
    auto start = job("echo out; echo err >&2\n");
    start.output_path = "localhost:" + work_ + "/dir";
    start.error_path = work_ + "/named.err";
    run(start);
    EXPECT_EQ(contents(work_ + "/dir/1.test.OU"), "out\n");
    EXPECT_EQ(contents(work_ + "/named.err"), "err\n");
}

TEST_F(RunnerTest, SaysThatAPathOnAnotherHostIsTakenForOneHere) {
    runner_ =
        Runner::create({.home = home_, .program = "/proc/self/exe", .host_name = "here.example.org"}).value();
    auto start = job("echo out\n");
    start.output_path = "there:" + work_ + "/out";
    start.error_path = "here:" + work_ + "/err";
    const auto end = run(start);
    EXPECT_EQ(contents(work_ + "/out"), "out\n");
    EXPECT_EQ(end.exit.message,
              "there:" + work_ + "/out is not this machine; the path is taken for one of this machine's");
}

TEST_F(RunnerTest, HonoursTheJobsUmask) {
    auto start = job("umask; echo x > \"$PBS_O_WORKDIR/made\"\n");
    start.umask = 022;
    run(start);
    EXPECT_EQ(contents(work_ + "/work.o1"), "0022\n");
    EXPECT_EQ(fs::status(work_ + "/work.o1").permissions(), fs::perms(0644));
    EXPECT_EQ(fs::status(work_ + "/made").permissions(), fs::perms(0644));
}

TEST_F(RunnerTest, SendsOutputThatCannotBeWrittenToUndelivered) {
    auto start = job("echo out; echo err >&2; exit 3\n");
    start.output_path = work_ + "/missing/dir/out";
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, 3);
    EXPECT_EQ(end.exit.message, "");
    EXPECT_EQ(end.exit.output_note, "cannot open " + work_ + "/missing/dir/out: No such file or directory; " +
                                        "the output is in " + home_ + "/undelivered/1.test.OU");
    EXPECT_EQ(contents(home_ + "/undelivered/1.test.OU"), "out\n");
    EXPECT_EQ(contents(work_ + "/work.e1"), "err\n");
}

TEST_F(RunnerTest, TellsAtTheStartThatOutputIsInUndelivered) {
    auto start = job("echo out; while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done\n");
    start.output_path = work_ + "/missing/dir/out";
    ASSERT_TRUE(runner_->start(start));
    const auto tells = HasSubstr("the output is in " + home_ + "/undelivered/");
    EXPECT_THAT(wait_running(*runner_).exit.output_note, tells);
    runner_ = new_runner();
    EXPECT_THAT(runner_->recover({start.id}, nullptr).at(0).exit.output_note, tells);
    ::kill(shepherd_of(start.id), SIGKILL);
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::lost);
    EXPECT_THAT(end.exit.output_note, tells);
}

// `undelivered` may have files of users, from an earlier version in which everybody could write there.
TEST_F(RunnerTest, FindsAnotherNameForUndeliveredOutput) {
    fs::create_directories(home_ + "/undelivered/1.test.OU/in the way");
    std::ofstream(top_ / "precious") << "precious\n";
    fs::create_symlink(top_ / "precious", home_ + "/undelivered/1.test.OU.1");
    auto start = job("echo out\n");
    start.output_path = work_ + "/missing/dir/out";
    const auto end = run(start);
    EXPECT_THAT(end.exit.output_note, HasSubstr("the output is in " + home_ + "/undelivered/1.test.OU.1"));
    EXPECT_EQ(contents(home_ + "/undelivered/1.test.OU.1"), "out\n");
    EXPECT_EQ(contents(top_ / "precious"), "precious\n");
}

TEST_F(RunnerTest, IsNotHeldUpByAFifoAsOutputFile) {
    ASSERT_EQ(::mkfifo((work_ + "/fifo").c_str(), 0600), 0);
    auto start = job("echo out\n");
    start.output_path = work_ + "/fifo";
    EXPECT_EQ(run(start).exit.exit_status, 0);
    EXPECT_EQ(contents(home_ + "/undelivered/1.test.OU"), "out\n");
}

TEST_F(RunnerTest, EnforcesWalltimeThoughNobodyReadsItsStderr) {
    ASSERT_EQ(::mkfifo((work_ + "/fifo").c_str(), 0600), 0);
    const int reader = ::open((work_ + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    auto start = job("head -c 65536 /dev/zero >&2; sleep 60\n");
    start.error_path = work_ + "/fifo";
    start.walltime = 1s;
    EXPECT_EQ(run(start).exit.exit_status, exit_status::kKilledWalltime);
    ::close(reader);
}

TEST_F(RunnerTest, KeepsHugeOutputWhole) {
    auto start =
        job("head -c 200000000 /dev/zero | tr '\\0' x; echo; head -c 30000000 /dev/zero | tr '\\0' y >&2\n");
    EXPECT_EQ(run(start).exit.exit_status, 0);
    EXPECT_EQ(fs::file_size(work_ + "/work.o1"), 200'000'001U);
    EXPECT_EQ(fs::file_size(work_ + "/work.e1"), 30'000'000U);
}

TEST_F(RunnerTest, CountsResourcesUsed) {
    const auto end =
        run(job("x=$(head -c 30000000 /dev/zero | tr '\\0' x); i=0\n"
                "while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.3\n"));
    EXPECT_EQ(end.exit.exit_status, 0);
    EXPECT_GT(end.exit.cput, 100ms);
    EXPECT_GE(end.exit.walltime, end.exit.cput / 4);
    EXPECT_GE(end.exit.walltime, 300ms);
    EXPECT_GT(end.exit.mem_kb, 20'000);
    EXPECT_GE(end.exit.vmem_kb, end.exit.mem_kb);
    const auto used = end.exit.resources_used(2);
    EXPECT_THAT(used, testing::Contains(testing::Pair("ncpus", "2")));
    EXPECT_THAT(used, testing::Contains(testing::Pair("mem", fmt::format("{}kb", end.exit.mem_kb))));
}

TEST_F(RunnerTest, CountsTimeOfProcessesThatHaveGone) {
    const auto end = run(job("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'\n"));
    EXPECT_GT(end.exit.cput, 50ms);
}

TEST_F(RunnerTest, TellsWhatIsUsedWhileTheJobRuns) {
    const JobStart start = job("while [ ! -e " + work_ + "/enough" + " ]; do :; done\n");
    ASSERT_TRUE(runner_->start(start));
    wait_running(*runner_);
    std::optional<ExitRecord> seen;
    eventually([&] {
        seen = runner_->used(start.id);
        return seen && seen->cput > 100ms;
    });
    ASSERT_TRUE(seen);
    EXPECT_GT(seen->cput, 100ms);
    EXPECT_GE(seen->walltime, seen->cput / 2);
    EXPECT_GT(seen->mem_kb, 0);
    EXPECT_TRUE(new_runner()->used(start.id)) << "another server sees it too";
    std::ofstream(work_ + "/enough").close();
    const RunReport end = wait_end();
    EXPECT_GE(end.exit.cput, seen->cput);
    EXPECT_EQ(end.exit.exit_status, 0);
    EXPECT_FALSE(runner_->used(start.id)) << "its record says it now";
    EXPECT_FALSE(runner_->used({"2.test", 1}));
}

TEST_F(RunnerTest, ReportsDeathBySignalAs256PlusItsNumber) {
    EXPECT_EQ(run(job("kill -SEGV $$\n")).exit.exit_status, 256 + SIGSEGV);
}

TEST_F(RunnerTest, SignalsAllProcessesOfTheJob) {
    ASSERT_TRUE(
        runner_->start(job("trap 'echo got usr1; exit 5' USR1\nsh -c 'trap \"echo child too; exit\" USR1; "
                           "echo ready > $PBS_O_WORKDIR/ready; while :; do sleep 0.05; done' &\n"
                           "while :; do sleep 0.05; done\n")));
    wait_running(*runner_);
    ASSERT_TRUE(eventually([&] { return fs::exists(work_ + "/ready"); }));
    ASSERT_TRUE(runner_->signal({"1.test", 1}, SIGUSR1));
    EXPECT_EQ(wait_end().exit.exit_status, 5);
    EXPECT_THAT(contents(work_ + "/work.o1"), HasSubstr("got usr1"));
}

TEST_F(RunnerTest, TerminatesWithTermAndThenKill) {
    ASSERT_TRUE(runner_->start(job("echo > $PBS_O_WORKDIR/first; sleep 60\n")));
    ASSERT_TRUE(runner_->start(
        job("trap 'echo no' TERM; echo > $PBS_O_WORKDIR/ready; while :; do sleep 0.1; done\n", "2.test")));
    ASSERT_TRUE(eventually([&] { return fs::exists(work_ + "/first") && fs::exists(work_ + "/ready"); }));
    const auto before = std::chrono::steady_clock::now();
    ASSERT_TRUE(runner_->terminate({"1.test", 1}, 20s));
    auto end = wait_end();
    EXPECT_EQ(end.id.job, "1.test");
    EXPECT_EQ(end.exit.exit_status, 256 + SIGTERM);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
    ASSERT_TRUE(runner_->terminate({"2.test", 1}, 1s));
    end = wait_end();
    EXPECT_EQ(end.exit.exit_status, 256 + SIGKILL);
    EXPECT_EQ(contents(work_ + "/work.o2"), "no\n");
}

TEST_F(RunnerTest, TerminatesAJobThatHasOnlyJustBeenStarted) {
    for (int i = 0; i < 10; ++i) {
        auto start = job("exec sleep 60\n", fmt::format("{}.test", i));
        ASSERT_TRUE(runner_->start(start));
        ASSERT_TRUE(runner_->terminate(start.id, 5s));
        EXPECT_EQ(wait_end().exit.exit_status, 256 + SIGTERM);
    }
}

TEST_F(RunnerTest, LetsTheOthersFinishWhenTheFirstProcessDiesOfTerm) {
    ASSERT_TRUE(
        runner_->start(job("sh -c 'trap \"sleep 0.5; echo saved > $PBS_O_WORKDIR/saved; exit\" TERM; "
                           "echo > $PBS_O_WORKDIR/ready; while :; do sleep 0.05; done' &\nwait\n")));
    ASSERT_TRUE(eventually([&] { return fs::exists(work_ + "/ready"); }));
    ASSERT_TRUE(runner_->terminate({"1.test", 1}, 20s));
    EXPECT_EQ(wait_end().exit.exit_status, 256 + SIGTERM);
    EXPECT_EQ(contents(work_ + "/saved"), "saved\n");
}

TEST_F(RunnerTest, AJobThatExceedsItsWalltimeIsEnded) {
    auto start = job("echo begun; sleep 60\n");
    start.walltime = 1s;
    start.kill_delay = 5s;
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledWalltime);
    EXPECT_GE(end.exit.walltime, 1s);
    EXPECT_LT(end.exit.walltime, 4s);
    EXPECT_THAT(end.exit.message, HasSubstr("job killed: walltime 1 exceeded limit 1"));
    EXPECT_EQ(contents(work_ + "/work.e1"), "=>> PBS: job killed: walltime 1 exceeded limit 1\n");
    EXPECT_EQ(contents(work_ + "/work.o1"), "begun\n");
}

TEST_F(RunnerTest, TakesOtherLimitsWhileTheJobRuns) {
    auto start = job("sleep 60\n");
    start.walltime = 1h;
    start.cput = 1h;
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(runner_->set_limits(start.id, 1s, 1h));  // limits can be set before the job runs, too
    const auto end = wait_end();
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledWalltime);
    EXPECT_THAT(end.exit.message, HasSubstr("exceeded limit 1"));
    EXPECT_FALSE(runner_->set_limits(start.id, 1s, 1h));

    start = job("while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done; exit 7\n", "2.test");
    start.walltime = 2s;
    ASSERT_TRUE(runner_->start(start));
    wait_for(*runner_, [&](const RunReport& report) { return report.id == start.id; });
    ASSERT_TRUE(runner_->set_limits(start.id, std::nullopt, std::nullopt));
    std::this_thread::sleep_for(2500ms);
    std::ofstream(work_ + "/go") << "x";
    EXPECT_EQ(wait_end().exit.exit_status, 7);
}

TEST_F(RunnerTest, AJobThatExceedsItsMemoryIsEnded) {
    const std::string script =
        "x=$(head -c 60000000 /dev/zero | tr '\\0' x)\nwhile [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.05; "
        "done\n";
    auto start = job(script);
    start.mem_kb = 30'000;
    auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledMem);
    EXPECT_THAT(end.exit.message, testing::MatchesRegex("job killed: mem [0-9]+kb exceeded limit 30000kb"));
    EXPECT_EQ(contents(work_ + "/work.e1"), "=>> PBS: " + end.exit.message + "\n");
    EXPECT_GT(end.exit.mem_kb, 30'000);
    start = job(script, "2.test");
    start.vmem_kb = 30'000;
    end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledVmem);
    std::ofstream(work_ + "/go") << "x";
    start = job(script, "3.test");
    start.mem_kb = 10'000'000;
    EXPECT_EQ(run(start).exit.exit_status, 0);
}

// The job's first process begins as a copy of the shepherd. The shepherd's memory doesn't count as the job's.
TEST_F(RunnerTest, ASmallJobHasLittleMemory) {
    auto start = job("sleep 0.3\n");
    start.mem_kb = 8'000;
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, 0) << end.exit.message;
    EXPECT_LT(end.exit.mem_kb, 8'000);
}

TEST_F(RunnerTest, KillsAJobThatIgnoresTermAtItsWalltime) {
    auto start = job("trap '' TERM\nwhile :; do sleep 0.1; done\n");
    start.walltime = 1s;
    start.kill_delay = 1s;
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledWalltime);
    EXPECT_LT(end.exit.walltime, 5s);
}

TEST_F(RunnerTest, EnforcesCpuTime) {
    auto start = job("while :; do :; done\n");
    start.cput = 1s;
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kKilledCput);
    EXPECT_THAT(contents(work_ + "/work.e1"), HasSubstr("exceeded limit 1"));
}

TEST_F(RunnerTest, KillsWhatAJobLeavesBehind) {
    // The job leaves processes: one in the background, one in a session of its own, and one that ignores
    // signals and has closed its files.
    const auto end =
        run(job("cd $PBS_O_WORKDIR\nsleep 300 & echo $! > a\n"
                "setsid sh -c 'echo $$ > b; exec sleep 300' &\n"
                "(trap '' TERM HUP; setsid sh -c 'echo $$ > c; exec sleep 300' >/dev/null 2>&1 &)\n"
                "while [ ! -s b ] || [ ! -s c ]; do sleep 0.02; done; exit 4\n"));
    EXPECT_EQ(end.exit.exit_status, 4);
    for (const auto* name : {"/a", "/b", "/c"}) {
        const pid_t pid = pid_in(work_ + name);
        ASSERT_GT(pid, 1) << name;
        EXPECT_FALSE(alive(pid)) << name;
    }
}

TEST_F(RunnerTest, RefusesToStartARunTwice) {
    const auto start = job("echo run >> $PBS_O_WORKDIR/count; sleep 0.3\n");
    ASSERT_TRUE(runner_->start(start));
    const auto again = runner_->start(start);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, "job 1.test was started before as run 1");
    wait_end();
    ASSERT_FALSE(runner_->start(start));
    EXPECT_EQ(contents(work_ + "/count"), "run\n");
    runner_->forget(start.id);
    auto next = start;
    next.id.run = 2;
    EXPECT_EQ(run(next).exit.exit_status, 0);
    EXPECT_EQ(contents(work_ + "/count"), "run\nrun\n");
}

TEST_F(RunnerTest, ForgetsAllFilesOfARun) {
    const auto end = run(job("exit 0\n"));
    EXPECT_FALSE(fs::is_empty(home_ + "/mom_priv/jobs"));
    runner_->forget(end.id);
    EXPECT_TRUE(eventually([&] { return fs::is_empty(home_ + "/mom_priv/jobs"); }));
    EXPECT_TRUE(fs::is_empty(home_ + "/aux"));
}

TEST_F(RunnerTest, SaysWhyAJobCannotStart) {
    auto start = job("echo\n");
    start.shell = "/no/such/shell";
    auto end = run(start);
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, exit_status::kFailAfterFiles);
    EXPECT_EQ(end.exit.message, "cannot run the shell /no/such/shell: No such file or directory");
    EXPECT_THAT(contents(work_ + "/work.e1"), HasSubstr("cannot run the shell /no/such/shell"));

    start = job("echo\n", "2.test");
    start.user = "no_such_user_here";
    end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kBadUid);
    EXPECT_EQ(end.exit.message, "no user no_such_user_here on this machine");

    start = job("echo\n", "3.test");
    fs::create_directories(home_ + "/mom_priv/jobs/3.test.1.SC/full");
    const auto started = runner_->start(start);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("cannot write "));
}

// The job of a user who is there mustn't end because a directory service doesn't answer at the moment.
TEST_F(RunnerTest, AStartWhoseUserCannotBeLookedUpIsOneThatNeverHappened) {
    auto start = job("echo\n");
    start.user = kUnansweredUser;
    const auto end = run(start);
    EXPECT_EQ(end.state, RunState::never_started);
    EXPECT_EQ(end.exit.message, "the user user.of.a.silent.directory can't be looked up: Input/output error");
    EXPECT_TRUE(fs::is_empty(home_ + "/mom_priv/jobs"));
}

TEST_F(RunnerTest, RefusesAnUnsafeJobId) {
    auto start = job("echo\n");
    start.id.job = "../1.test";
    ASSERT_FALSE(runner_->start(start));
}

TEST_F(RunnerTest, RunsOnlyItsOwnUsersJobsWithoutRoot) {
    std::string reason;
    EXPECT_TRUE(runner_->may_run_as(::geteuid(), reason));
    if (::geteuid() == 0) {
        EXPECT_TRUE(runner_->may_run_as(12345, reason));
        GTEST_SKIP() << "run as root: the refusal can only be seen without root";
    }
    EXPECT_FALSE(runner_->may_run_as(::geteuid() + 1, reason));
    EXPECT_THAT(reason, HasSubstr("can run jobs of that user only"));
    auto start = job("echo\n");
    start.uid = ::geteuid() + 1;
    ASSERT_FALSE(runner_->start(start));
}

// ---- The death of the server ----

TEST_F(RunnerTest, FindsARunningJobAgain) {
    const auto start = job("while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done; echo done; exit 9\n");
    start_and_die(start, true);
    std::vector<RunReport> strays;
    const auto found = runner_->recover({start.id}, &strays);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].state, RunState::running);
    EXPECT_GT(found[0].session, 1);
    EXPECT_TRUE(strays.empty());
    std::ofstream(work_ + "/go") << "x";
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, 9);
    EXPECT_EQ(contents(work_ + "/work.o1"), "done\n");
}

TEST_F(RunnerTest, SignalsAJobThatAnotherServerStarted) {
    const auto start = job("sleep 60\n");
    start_and_die(start, true);
    ASSERT_EQ(runner_->recover({start.id}, nullptr).at(0).state, RunState::running);
    ASSERT_TRUE(runner_->terminate(start.id, 5s));
    EXPECT_EQ(wait_end().exit.exit_status, 256 + SIGTERM);
}

TEST_F(RunnerTest, KnowsTheEndOfAJobThatEndedWhileThereWasNoServer) {
    const auto start = job("exit 11\n");
    start_and_die(start, true);
    ASSERT_TRUE(eventually([&] { return fs::exists(RunFiles(home_, start.id).exit()); }));
    const auto found = runner_->recover({start.id}, nullptr);
    EXPECT_EQ(found.at(0).state, RunState::ended);
    EXPECT_EQ(found.at(0).exit.exit_status, 11);
}

TEST_F(RunnerTest, EnforcesWalltimeWithoutAServer) {
    auto start = job("sleep 60\n");
    start.walltime = 1s;
    start_and_die(start, true);
    ASSERT_TRUE(eventually([&] { return fs::exists(RunFiles(home_, start.id).exit()); }));
    EXPECT_EQ(runner_->recover({start.id}, nullptr).at(0).exit.exit_status, exit_status::kKilledWalltime);
}

TEST_F(RunnerTest, ReportsAStartThatNeverHappened) {
    EXPECT_EQ(runner_->recover({{"7.test", 3}}, nullptr).at(0).state, RunState::never_started);
}

// Each allocation of the runner fails once, from the start of a job to its end.
TEST_F(RunnerTest, WithoutMemoryAStartEndsOnceAndARefusedOneNeverRuns) {
    const auto lines = [&](const RunId& id) {
        const std::string text = contents(work_ + "/" + id.job);
        return std::count(text.begin(), text.end(), '\n');
    };
    std::vector<RunId> refused;
    bool happened = true;
    for (long at = 1; happened && !HasFailure(); ++at) {
        SCOPED_TRACE(fmt::format("allocation {}", at));
        long left = at;
        // Calls work() while the allocation may fail. Returns whether no exception passed.
        const auto call = [&](const auto& work) {
            allocations_left = left;
            bool done = true;
            try {
                work();
            } catch (const std::bad_alloc&) {
                done = false;
            }
            left = std::exchange(allocations_left, 0);
            return done;
        };
        const JobStart start =
            job("echo ran >> $PBS_O_WORKDIR/$PBS_JOBID\n", fmt::format("{}.without.memory.test", at));
        bool started = false;
        if (!call([&] { started = runner_->start(start).has_value(); })) started = false;
        if (!started) refused.push_back(start.id);
        std::vector<RunState> ends;
        ends.reserve(100);
        const auto take_events = [&] {
            call([&] {
                for (const RunReport& report : runner_->events()) {
                    if (report.state != RunState::running) ends.push_back(report.state);
                    // The server puts a job aside that has a reason, and starts another one at once.
                    if (report.state == RunState::never_started) EXPECT_FALSE(report.exit.message.empty());
                }
            });
        };
        EXPECT_TRUE(!started || eventually([&] {
            pollfd readable{runner_->event_fd(), POLLIN, 0};
            ::poll(&readable, 1, 10);
            take_events();
            return !ends.empty() && runner_->running() == 0;
        }));
        take_events();
        EXPECT_EQ(ends.size(), started ? 1U : 0U);
        if (!ends.empty()) EXPECT_EQ(lines(start.id), ends[0] == RunState::ended ? 1 : 0);
        runner_->forget(start.id);
        happened = left == 0;
    }
    EXPECT_GT(refused.size(), 10U);
    for (const RunId& id : refused) EXPECT_EQ(lines(id), 0) << id.job;
}

// Each allocation fails once between the launcher's answer and the end of a job whose end was requested
// before.
TEST_F(RunnerTest, WithoutMemoryARequestToAJobThatIsBeingStartedIsNotLost) {
    with_stopped_launcher([&](pid_t launcher, const JobStart& start, long at, bool& happened) {
        ASSERT_TRUE(runner_->start(start));
        ASSERT_TRUE(runner_->terminate(start.id, 0s));
        ::kill(launcher, SIGCONT);
        long left = at;
        std::vector<RunId> ended;
        ended.reserve(10);
        EXPECT_TRUE(eventually([&] {
            pollfd readable{runner_->event_fd(), POLLIN, 0};
            ::poll(&readable, 1, 10);
            allocations_left = left;
            try {
                for (const RunReport& report : runner_->events())
                    if (report.state != RunState::running) ended.push_back(report.id);
            } catch (const std::bad_alloc&) {
            }
            left = std::exchange(allocations_left, 0);
            return !ended.empty();
        }));
        happened = left == 0;
    });
}

// As above, but the end is requested when the launcher's answer has come: the request itself takes the
// answer.
TEST_F(RunnerTest, WithoutMemoryARequestToAJobThatHasJustGotItsWardenIsNotLost) {
    with_stopped_launcher([&](pid_t launcher, const JobStart& start, long at, bool& happened) {
        pollfd answered{runner_->event_fd(), POLLIN, 0};
        while (::poll(&answered, 1, 0) == 1) static_cast<void>(runner_->events());
        ASSERT_TRUE(runner_->start(start));
        ::kill(launcher, SIGCONT);
        ASSERT_EQ(::poll(&answered, 1, 10'000), 1);
        allocations_left = at;
        bool asked = false;
        try {
            asked = runner_->terminate(start.id, 0s).has_value();
            happened = std::exchange(allocations_left, 0) == 0;
        } catch (const std::bad_alloc&) {
            asked = runner_->terminate(start.id, 0s).has_value();
        }
        EXPECT_TRUE(asked);
        const auto end = wait_for(*runner_, [&](const RunReport& report) {
            return report.id == start.id && report.state != RunState::running;
        });
        EXPECT_EQ(end.id, start.id);
    });
}

// A cleaner is a child of the server: nobody else can wait for it.
TEST_F(RunnerTest, WithoutMemoryEachCleanerIsWaitedFor) {
    const auto children = [] {
        return std::ranges::count(descendants(::getpid()), ::getpid(), &Process::parent);
    };
    const auto others = children();  // launchers of other tests
    bool happened = true;
    for (long at = 1; happened && !HasFailure(); ++at) {
        SCOPED_TRACE(fmt::format("allocation {}", at));
        const RunId id{fmt::format("{}.test", at), 1};
        std::ofstream(RunFiles(home_, id).started()) << write_job_spec({job("echo\n"), "C0FFEE", "", ""});
        const auto runner = new_runner("/bin/false");
        allocations_left = at;
        try {
            (void)runner->recover({id}, nullptr);
        } catch (const std::bad_alloc&) {
        }
        happened = std::exchange(allocations_left, 0) == 0;
        EXPECT_TRUE(eventually([&] {
            (void)runner->events();
            return children() == others;
        }));
        RunFiles(home_, id).remove_all();
    }
}

TEST_F(RunnerTest, ALateShepherdFindsItsPermissionWithdrawn) {
    const auto start = job("echo ran > $PBS_O_WORKDIR/ran\n");
    const RunFiles files(home_, start.id);
    std::ofstream(files.job()) << write_job_spec({start, "C0FFEE", "", ""});
    EXPECT_EQ(runner_->recover({start.id}, nullptr).at(0).state, RunState::never_started);
    const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    Launcher launcher(home_, "/proc/self/exe", epoll.get(), 0);
    ASSERT_TRUE(launcher.ask(start.id));
    std::deque<Launcher::Answer> late;
    ASSERT_TRUE(eventually([&] { return launcher.carry(late) && !late.empty(); }));
    EXPECT_EQ(late[0].id, start.id);
    EXPECT_EQ(late[0].error, "");
    pollfd ended{late[0].process.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
    EXPECT_EQ(read_fd(late[0].notify.get(), "notice").value(),
              "error=cannot open " + files.job() + ": No such file or directory\n");
    EXPECT_FALSE(fs::exists(work_ + "/ran"));
    EXPECT_TRUE(fs::is_empty(home_ + "/mom_priv/jobs"));
}

TEST_F(RunnerTest, EitherTheJobStartsOrThePermissionIsWithdrawn) {
    int ran = 0;
    int withdrawn = 0;
    for (int i = 0; i < 120; ++i) {
        const auto start = job("echo ran >> $PBS_O_WORKDIR/$PBS_JOBID\n", fmt::format("{}.race", i));
        start_and_die(start, false);
        std::this_thread::sleep_for(std::chrono::microseconds(i * 120));
        const auto server = new_runner();
        auto report = server->recover({start.id}, nullptr).at(0);
        if (report.state == RunState::running) report = wait_end(*server);
        const std::string mark = contents(work_ + "/" + start.id.job);
        if (report.state == RunState::never_started) {
            ++withdrawn;
            EXPECT_EQ(mark, "");
        } else {
            ++ran;
            EXPECT_EQ(report.state, RunState::ended);
            EXPECT_EQ(mark, "ran\n");
        }
        server->forget(start.id);
        seen_.erase(server.get());
    }
    std::this_thread::sleep_for(300ms);
    for (const auto& entry : fs::directory_iterator(work_))
        if (entry.path().extension() == ".race") --ran;
    EXPECT_EQ(ran, 0) << "a job ran that was said never to start";
    RecordProperty("withdrawn", withdrawn);
}

TEST_F(RunnerTest, KillsWhatIsLeftWhenTheShepherdIsKilled) {
    const auto start =
        job("cd $PBS_O_WORKDIR\necho $TMPDIR > tmp_dir\nsleep 300 & echo $! > a\nsetsid sh -c 'echo $$ > b; "
            "exec sleep 300' &\n"
            "while [ ! -s b ]; do sleep 0.02; done; echo > ready; sleep 300\n");
    ASSERT_TRUE(runner_->start(start));
    const auto running = wait_running(*runner_);
    ASSERT_TRUE(eventually([&] { return fs::exists(work_ + "/ready"); }));
    ::kill(shepherd_of(start.id), SIGKILL);
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::lost);
    EXPECT_EQ(end.session, running.session);
    EXPECT_EQ(end.exit.exit_status, exit_status::kAbortedAtRestart);
    EXPECT_EQ(end.exit.message, "the process that ran the job was killed");
    EXPECT_FALSE(alive(static_cast<pid_t>(running.session)));
    EXPECT_FALSE(alive(pid_in(work_ + "/a")));
    EXPECT_FALSE(alive(pid_in(work_ + "/b")));
    const auto tmp_dir = line_with(contents(work_ + "/tmp_dir"), "/var/tmp/");
    EXPECT_NE(tmp_dir, "");
    EXPECT_TRUE(eventually([&] { return !fs::exists(tmp_dir); }));
    EXPECT_FALSE(runner_->signal(start.id, SIGTERM));
}

TEST_F(RunnerTest, FindsAShepherdKilledWhileThereWasNoServer) {
    const auto start =
        job("sleep 300 & echo $! > $PBS_O_WORKDIR/a; echo > $PBS_O_WORKDIR/ready; sleep 300\n");
    start_and_die(start, true);
    ASSERT_TRUE(eventually([&] { return fs::exists(work_ + "/ready"); }));
    const pid_t shepherd = shepherd_of(start.id);
    ::kill(shepherd, SIGKILL);
    ASSERT_TRUE(eventually([&] { return !alive(shepherd); }));
    EXPECT_EQ(recovered(start.id).state, RunState::lost);
    EXPECT_FALSE(alive(pid_in(work_ + "/a")));
}

TEST_F(RunnerTest, AJobWhoseEndCannotBeFoundOutMayStillRun) {
    const auto start = job("echo\n");
    std::ofstream(RunFiles(home_, start.id).started()) << write_job_spec({start, "C0FFEE", "", ""});
    runner_ = new_runner("/bin/false");
    const auto report = recovered(start.id);
    EXPECT_EQ(report.state, RunState::lost);
    EXPECT_TRUE(report.may_still_run);
    EXPECT_THAT(report.exit.message, HasSubstr("ended without a record"));
}

// ---- Processes that leave their job's session and process tree ----

// If there are no control groups, supervision() says which processes may outlive their job.
TEST_F(RunnerTest, SaysWhatKeepsTheProcessesOfJobsTogether) {
    EXPECT_THAT(
        runner_->supervision(),
        testing::AnyOf(testing::StartsWith("the processes of each job are in a control group of its own"),
                       testing::StartsWith("jobs have no control groups (")));
    control_groups_ = false;
    EXPECT_THAT(new_runner()->supervision(),
                testing::AllOf(testing::StartsWith("jobs have no control groups (they are not asked for)"),
                               HasSubstr("if both are killed at once they run on")));
}

// The base of tests that run with control groups and without them.
class Escapes : public RunnerTest, public testing::WithParamInterface<bool> {
  protected:
    void SetUp() override {
        control_groups_ = GetParam();
        RunnerTest::SetUp();
        if (HasFatalFailure()) return;
        const bool has_groups =
            runner_->supervision().starts_with("the processes of each job are in a control group");
        ASSERT_FALSE(has_groups && !GetParam());
        if (GetParam() && !has_groups) GTEST_SKIP() << runner_->supervision();
    }

    // Returns a job with daemons that have left its session and its process tree, and have neither its
    // environment nor any of its files open.
    JobStart with_daemons(int count, const std::string& then, const std::string& id = "1.test") const {
        std::ofstream(work_ + "/real") << "echo $$ >> daemons\nexec /bin/sleep 300\n";
        return job(
            fmt::format("cd $PBS_O_WORKDIR\nfor i in $(seq {}); do\n"
                        "(setsid env -i /bin/sh -c '/bin/sh real </dev/null >/dev/null 2>&1 &' &)\ndone\n"
                        "while [ $(cat daemons 2>/dev/null | wc -l) -lt {} ]; do sleep 0.02; done\n"
                        "echo > ready\n{}",
                        count, count, then),
            id);
    }
    bool ready(std::chrono::milliseconds limit = 20s) const {
        return eventually([&] { return fs::exists(work_ + "/ready"); }, limit);
    }
    std::vector<pid_t> daemons() const {
        std::vector<pid_t> pids;
        std::ifstream file(work_ + "/daemons");
        for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
        return pids;
    }
    long living_daemons() const {
        const auto pids = daemons();
        EXPECT_FALSE(pids.empty());
        return std::count_if(pids.begin(), pids.end(), alive);
    }
    // Checks that neither environment nor session shows to which job the daemons belong.
    void check_disguise(const RunId& id) const {
        const auto spec = parse_job_spec(contents(RunFiles(home_, id).started()), "spec").value();
        for (const pid_t pid : daemons()) {
            EXPECT_THAT(contents(fmt::format("/proc/{}/environ", pid)), testing::Not(HasSubstr(spec.cookie)));
            EXPECT_NE(read_process(pid)->session, number(contents(RunFiles(home_, id).session())));
        }
    }
    pid_t warden_of(const RunId& id) const {
        const pid_t warden = read_process(shepherd_of(id))->parent;
        EXPECT_NE(warden, ::getpid());
        return warden;
    }
    std::string group_of(const RunId& id) const {
        return parse_job_spec(contents(RunFiles(home_, id).started()), "spec").value().control_group;
    }
};
INSTANTIATE_TEST_SUITE_P(Supervision, Escapes, testing::Bool(),
                         [](const auto& of) { return of.param ? "ControlGroups" : "ProcessTrees"; });

TEST_P(Escapes, EndWithTheirJob) {
    const auto start = with_daemons(2, "exit 4\n");
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, 4);
    EXPECT_EQ(living_daemons(), 0);
    if (GetParam()) EXPECT_FALSE(fs::exists(group_of(start.id)));
}

TEST_P(Escapes, HaveTheWeightOfTheirJob) {
    const auto start = with_daemons(1, "sleep 60\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready());
    const auto set = runner_->set_weight(start.id, 250);
    if (runner_->weighs()) {
        EXPECT_TRUE(set) << set.error().message;
        EXPECT_EQ(contents(group_of(start.id) + "/cpu.weight"), "250\n");
    } else {
        ASSERT_FALSE(set);
        EXPECT_THAT(set.error().message,
                    HasSubstr(GetParam() ? "cpu.weight: " : "job 1.test has no control group"));
    }
    ASSERT_TRUE(runner_->terminate(start.id, 0s));
    wait_end();
    EXPECT_FALSE(runner_->set_weight(start.id, 250));
}

// A weight reads no more of the start's file than its beginning: the file may have megabytes of environment,
// and the server has other work meanwhile.
TEST_F(RunnerTest, AWeightReadsOnlyTheBeginningOfTheStartsFile) {
    JobSpec spec;
    spec.start = job("true\n");
    spec.control_group = top_ / "group";
    fs::create_directory(spec.control_group);
    std::ofstream(spec.control_group + "/cpu.weight") << "";
    spec.start.variables = {{"A", std::string(100'000, 'a')}};
    const std::string text = write_job_spec(spec);
    std::ofstream(RunFiles(home_, spec.start.id).started()) << text.substr(0, text.size() - 10'000);
    const auto set = runner_->set_weight(spec.start.id, 250);
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ(contents(spec.control_group + "/cpu.weight"), "250");
}

TEST_P(Escapes, EndWhenTheirJobIsDeleted) {
    const auto start = with_daemons(2, "trap '' TERM; while :; do sleep 1; done\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready());
    check_disguise(start.id);
    ASSERT_TRUE(runner_->terminate(start.id, 1s));
    EXPECT_EQ(wait_end().state, RunState::ended);
    EXPECT_EQ(living_daemons(), 0);
}

TEST_P(Escapes, EndWhenTheShepherdIsKilled) {
    const auto start = with_daemons(2, "sleep 300\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready());
    const std::string group = group_of(start.id);
    ::kill(shepherd_of(start.id), SIGKILL);
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::lost);
    EXPECT_FALSE(end.may_still_run);
    EXPECT_EQ(living_daemons(), 0);
    if (GetParam()) EXPECT_FALSE(fs::exists(group));
}

TEST_P(Escapes, ManyEndBeforeTheirJobIsSaidToHaveEnded) {
    // The daemons are so many that ending them takes a while, but no more than a busy machine can start in
    // time.
    const auto start = with_daemons(150, "sleep 300\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready(90s));
    ::kill(shepherd_of(start.id), SIGKILL);
    EXPECT_EQ(wait_end().state, RunState::lost);
    EXPECT_EQ(living_daemons(), 0);
}

TEST_P(Escapes, EndWhenServerAndShepherdAreKilled) {
    const auto start = with_daemons(2, "sleep 300\n");
    start_and_die(start, true);
    ASSERT_TRUE(ready());
    ::kill(shepherd_of(start.id), SIGKILL);
    // The warden ends the job without a server.
    EXPECT_TRUE(eventually([&] { return fs::exists(RunFiles(home_, start.id).exit()); }));
    EXPECT_EQ(living_daemons(), 0);
    EXPECT_EQ(recovered(start.id).state, RunState::lost);
}

TEST_P(Escapes, EndWhenServerShepherdAndWardenAreKilled) {
    if (!GetParam()) GTEST_SKIP() << runner_->supervision();
    const auto start = with_daemons(2, "sleep 300\n");
    start_and_die(start, true);
    ASSERT_TRUE(ready());
    const pid_t shepherd = shepherd_of(start.id);
    const pid_t warden = warden_of(start.id);
    ::kill(warden, SIGKILL);
    ::kill(shepherd, SIGKILL);
    ASSERT_TRUE(eventually([&] { return !alive(shepherd) && !alive(warden); }));
    EXPECT_EQ(living_daemons(), 2);
    const auto end = recovered(start.id);
    EXPECT_EQ(end.state, RunState::lost);
    EXPECT_FALSE(end.may_still_run);
    EXPECT_EQ(living_daemons(), 0);
}

TEST_P(Escapes, AJobWhoseWardenIsKilledGoesOn) {
    const auto start = with_daemons(1, "trap 'exit 9' USR1; while :; do sleep 0.05; done\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready());
    const pid_t warden = warden_of(start.id);
    ::kill(warden, SIGKILL);
    ASSERT_TRUE(eventually([&] { return !alive(warden); }));
    runner_->events();
    EXPECT_EQ(runner_->running(), 1U);
    ASSERT_TRUE(runner_->signal(start.id, SIGUSR1));
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, 9);
    EXPECT_EQ(living_daemons(), 0);
}

// Each of these processes starts another one at once, in a session of its own.
TEST_P(Escapes, CannotOutrunTheirEnd) {
    std::ofstream(work_ + "/run") << "echo $$ > last\nsetsid env -i /bin/sh run &\n";
    auto start =
        job("cd $PBS_O_WORKDIR\nsetsid env -i /bin/sh run &\n"
            "while [ ! -s last ]; do sleep 0.02; done\necho > ready\nsleep 300\n");
    ASSERT_TRUE(runner_->start(start));
    ASSERT_TRUE(ready());
    ::kill(shepherd_of(start.id), SIGKILL);
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::lost);
    EXPECT_FALSE(end.may_still_run);
    fs::remove(work_ + "/last");
    std::this_thread::sleep_for(200ms);
    EXPECT_FALSE(fs::exists(work_ + "/last"));
}

TEST_F(RunnerTest, DoesNotKillTheSessionOfAnotherBoot) {
    const pid_t bystander = ::fork();
    if (bystander == 0) {
        ::setsid();
        ::pause();
        ::_exit(0);
    }
    ASSERT_TRUE(eventually([&] { return read_process(bystander)->session == bystander; }));
    const auto start = job("echo\n");
    const RunFiles files(home_, start.id);
    std::ofstream(files.started()) << write_job_spec({start, "C0FFEE", "", ""});
    std::ofstream(files.session()) << write_session(
        {bystander, read_process(bystander)->start, "another-boot", 1, ""});
    const auto report = recovered(start.id);
    EXPECT_EQ(report.state, RunState::lost);
    EXPECT_EQ(report.exit.message, "the machine was restarted while the job ran");
    EXPECT_TRUE(alive(bystander));
    ::kill(bystander, SIGKILL);
    ::waitpid(bystander, nullptr, 0);
}

TEST_F(RunnerTest, ReportsStartsThatTheDatabaseDoesNotKnow) {
    const auto unknown = job("sleep 60\n", "5.test");
    const auto ended = job("exit 0\n", "6.test");
    start_and_die(unknown, true);
    start_and_die(ended, true);
    ASSERT_TRUE(eventually([&] { return fs::exists(RunFiles(home_, ended.id).exit()); }));
    std::vector<RunReport> strays;
    EXPECT_TRUE(runner_->recover({}, &strays).empty());
    ASSERT_EQ(strays.size(), 2U);
    EXPECT_EQ(strays[0].id, unknown.id);
    EXPECT_EQ(strays[0].state, RunState::running);
    EXPECT_EQ(strays[1].state, RunState::ended);
    EXPECT_FALSE(fs::exists(RunFiles(home_, ended.id).exit()));
    ASSERT_TRUE(runner_->terminate(unknown.id, 5s));
    EXPECT_EQ(wait_end().exit.exit_status, 256 + SIGTERM);
}

TEST_F(RunnerTest, AShepherdThatCannotRunIsAStartThatNeverHappened) {
    const auto broken = new_runner("/bin/false");
    ASSERT_TRUE(broken->start(job("echo\n")));
    auto end = wait_end(*broken);
    EXPECT_EQ(end.state, RunState::never_started);
    EXPECT_EQ(end.exit.message, "its shepherd ended before it could start the job");
    const auto missing = new_runner("/no/such/program")->start(job("echo\n"));
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("/no/such/program: No such file or directory"));
    EXPECT_TRUE(fs::is_empty(home_ + "/mom_priv/jobs"));
}

TEST_F(RunnerTest, StartsGoOnWhenTheLauncherIsKilled) {
    const auto first = job("sleep 60\n", "1.test");
    ASSERT_TRUE(runner_->start(first));
    const pid_t launcher = stop_launcher_of(first.id);
    const auto second = job("echo ran > $PBS_O_WORKDIR/ran\n", "2.test");
    ASSERT_TRUE(runner_->start(second));
    EXPECT_EQ(runner_->running(), 2U);
    ::kill(launcher, SIGKILL);
    const auto report = wait_end();
    EXPECT_EQ(report.id, second.id);
    EXPECT_EQ(report.state, RunState::never_started);
    EXPECT_EQ(report.exit.message, "its shepherd ended before it could start the job");
    EXPECT_FALSE(fs::exists(work_ + "/ran"));
    EXPECT_EQ(run(job("exit 3\n", "3.test")).exit.exit_status, 3);
    ASSERT_TRUE(runner_->terminate(first.id, 5s));
    EXPECT_EQ(wait_end().exit.exit_status, 256 + SIGTERM);
}

TEST_F(RunnerTest, EndsAJobThatIsYetToBeStarted) {
    const auto first = job("sleep 60\n", "1.test");
    ASSERT_TRUE(runner_->start(first));
    const pid_t launcher = stop_launcher_of(first.id);
    const auto second = job("sleep 60\n", "2.test");
    ASSERT_TRUE(runner_->start(second));
    ASSERT_TRUE(runner_->terminate(second.id, 5s));
    ::kill(launcher, SIGCONT);
    const auto end = wait_end();
    EXPECT_EQ(end.id, second.id);
    EXPECT_EQ(end.exit.exit_status, 256 + SIGTERM);
    ASSERT_TRUE(runner_->terminate(first.id, 5s));
    wait_end();
}

TEST_F(RunnerTest, ADamagedExitRecordIsALostJob) {
    const auto start = job("exit 0\n");
    run(start);
    std::ofstream(RunFiles(home_, start.id).exit()) << "version=1\nexit_status=0\n";
    runner_ = new_runner();
    const auto report = recovered(start.id);
    EXPECT_EQ(report.state, RunState::lost);
    EXPECT_FALSE(report.may_still_run);
    EXPECT_THAT(report.exit.message, HasSubstr("complete=1"));
}

TEST_F(RunnerTest, RunsManyJobsAtOnce) {
    constexpr int kCount = 60;  // more than a launcher starts at a time
    for (int i = 0; i < kCount; ++i)
        ASSERT_TRUE(runner_->start(job(fmt::format("sleep 0.1; exit {}\n", i), fmt::format("{}.test", i))));
    for (int i = 0; i < kCount; ++i) {
        const auto end = wait_end();
        EXPECT_EQ(end.exit.exit_status, number(end.id.job));
    }
    EXPECT_EQ(runner_->running(), 0U);
}

// ---- Jobs of another user, if root runs the tests ----

class AsAnotherUser : public RunnerTest {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "not root: jobs can't be run as another user";
        RunnerTest::SetUp();
        name_ = fmt::format("pbst{}", ::getpid());
        const std::string command =
            fmt::format("useradd -M -d {} -s /bin/sh {} >/dev/null 2>&1", work_, name_);
        if (std::system(command.c_str()) != 0) GTEST_SKIP() << "useradd does not work here";
        const passwd* entry = ::getpwnam(name_.c_str());
        ASSERT_NE(entry, nullptr);
        owner_ = *entry;
        owner_.pw_name = name_.data();
        ASSERT_EQ(::chown(work_.c_str(), owner_.pw_uid, owner_.pw_gid), 0);
    }
    void TearDown() override {
        if (::geteuid() != 0) return;
        RunnerTest::TearDown();
        if (!name_.empty())
            static_cast<void>(!std::system(fmt::format("userdel {} >/dev/null 2>&1", name_).c_str()));
    }
    std::string name_;
};

TEST_F(AsAnotherUser, RunsTheJobAsThatUser) {
    auto start = job("id -un; id -u; pwd; cat /etc/shadow; echo x > made; ls -d $TMPDIR\n");
    start.shell.clear();  // an empty shell means the user's login shell
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, 0) << end.exit.message;
    EXPECT_THAT(contents(work_ + "/work.o1"),
                HasSubstr(fmt::format("{}\n{}\n{}\n", name_, owner_.pw_uid, work_)));
    EXPECT_THAT(contents(work_ + "/work.e1"), HasSubstr("ermission denied"));
    struct stat status {};
    ASSERT_EQ(::stat((work_ + "/work.o1").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, owner_.pw_uid);
    ASSERT_EQ(::stat((work_ + "/made").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, owner_.pw_uid);
    const auto tmp_dir = line_with(contents(work_ + "/work.o1"), "/var/tmp/pbs.1.test");
    EXPECT_NE(tmp_dir, "");
    EXPECT_TRUE(eventually([&] { return !fs::exists(tmp_dir); }));
}

TEST_F(AsAnotherUser, CannotBeMadeToWriteWhereTheUserMayNot) {
    fs::create_directory(top_ / "roots");
    ::chmod((top_ / "roots").c_str(), 0700);
    std::ofstream(top_ / "secret") << "precious\n";
    ::chmod((top_ / "secret").c_str(), 0644);
    fs::create_symlink(top_ / "secret", work_ + "/work.o1");
    auto start = job("echo out; echo err >&2\n");
    start.error_path = top_ / "roots/err";
    const auto end = run(start);
    EXPECT_EQ(contents(top_ / "secret"), "precious\n");
    EXPECT_TRUE(fs::is_empty(top_ / "roots"));
    EXPECT_EQ(contents(home_ + "/undelivered/1.test.OU"), "out\n");
    EXPECT_EQ(contents(home_ + "/undelivered/1.test.ER"), "err\n");
    EXPECT_THAT(end.exit.output_note, HasSubstr("Permission denied"));
}

TEST_F(AsAnotherUser, RunsTheScriptThoughTheUserCannotReachPbsHome) {
    ::chmod(home_.c_str(), 0700);
    EXPECT_EQ(run(job("exit 6\n")).exit.exit_status, 6);
}

TEST_F(AsAnotherUser, CannotStopItsShepherd) {
    auto start = job("kill -KILL $PPID; echo $?; exit 3\n");
    const auto end = run(start);
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, 3);
    EXPECT_EQ(contents(work_ + "/work.o1"), "1\n");
}

TEST_F(AsAnotherUser, NeedsAHomeDirectory) {
    auto start = job("echo\n");
    ASSERT_EQ(std::system(fmt::format("usermod -d /no/such/home {} >/dev/null 2>&1", name_).c_str()), 0);
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kFailAfterFiles);
    EXPECT_EQ(end.exit.message,
              "cannot change to the home directory /no/such/home: No such file or directory");
}

TEST_F(AsAnotherUser, RefusesAUserWhoseUidHasChanged) {
    auto start = job("echo\n");
    start.uid += 1;
    const auto end = run(start);
    EXPECT_EQ(end.exit.exit_status, exit_status::kBadUid);
    EXPECT_THAT(end.exit.message, HasSubstr("the job was submitted with uid"));
}

TEST_F(AsAnotherUser, AFullDiskStopsStartsButLosesNoExitRecord) {
    const std::string jobs = home_ + "/mom_priv/jobs";
    if (::mount("tmpfs", jobs.c_str(), "tmpfs", 0, "size=256k") != 0)
        GTEST_SKIP() << "no right to mount a tmpfs";
    const auto fill = [&] {
        std::ofstream file(jobs + "/filler", std::ios::app);
        const std::string block(4096, 'x');
        while (file.write(block.data(), 4096).flush()) {
        }
    };
    ASSERT_TRUE(runner_->start(job("while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.02; done; exit 21\n")));
    wait_running(*runner_);
    fill();
    const auto refused = runner_->start(job("echo\n", "2.test"));
    if (refused) {
        // There was space for the record of the start, but not for the record of its end.
        EXPECT_EQ(wait_end().state, RunState::never_started);
    } else {
        EXPECT_THAT(refused.error().message, HasSubstr("No space left on device"));
    }
    std::ofstream(work_ + "/go") << "x";
    const auto end = wait_end();
    EXPECT_EQ(end.state, RunState::ended);
    EXPECT_EQ(end.exit.exit_status, 21);
    runner_.reset();
    EXPECT_EQ(::umount(jobs.c_str()), 0);
}

TEST(ParseSignal, TakesNamesAndNumbers) {
    EXPECT_EQ(parse_signal("SIGTERM").value(), SIGTERM);
    EXPECT_EQ(parse_signal("KILL").value(), SIGKILL);
    EXPECT_EQ(parse_signal("10").value(), 10);
    EXPECT_EQ(parse_signal("0").value(), 0);
    EXPECT_EQ(parse_signal("sigterm").value(), SIGTERM);
    EXPECT_EQ(parse_signal("SIGNULL").value(), 0);
    for (const auto* bad : {"", "SIG", "-1", "999", "9x", "TERMX"}) {
        const auto result = parse_signal(bad);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(result.error().code, 15013);
        EXPECT_EQ(result.error().message, fmt::format("unknown signal \"{}\"", bad));
    }
}

}  // namespace
}  // namespace pbs::host

int main(int argc, char** argv) {
    if (pbs::host::is_shepherd(argc, argv)) return pbs::host::shepherd_main(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
