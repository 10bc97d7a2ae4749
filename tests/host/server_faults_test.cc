// Tests killed servers, full disks and lost shepherds: no job is lost or runs twice, and each end has one
// accounting record.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string contents(const fs::path& path) {
    return pbs::test::file_text(path);
}

class Faults : public OriginServer {
  protected:
    // Sets sched_restart_action. By default, after a server's start the jobs in batch queues wait until
    // somebody moves them.
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set policy default_policy sched_restart_action = restart"}));
    }
    // Returns the accounting records of one type about a job.
    std::vector<std::string> records(char type, const std::string& id) const {
        std::vector<std::string> found;
        std::istringstream text(server.accounting());
        for (std::string line; std::getline(text, line);)
            if (line.find(fmt::format(";{};{};", type, id)) != std::string::npos) found.push_back(line);
        return found;
    }
    bool wait_ended(const std::string& id, std::chrono::seconds limit = 40s) const {
        return wait_for([&] { return !records('E', id).empty(); }, limit);
    }
    std::string file(const std::string& name) const { return contents(server.work() / name); }
    bool wait_file(const std::string& name) const {
        return wait_for([&] { return fs::exists(server.work() / name); }, 20s);
    }
    // Makes a file that jobs wait for.
    void make(const std::string& name) const { std::ofstream(server.work() / name) << "x"; }

    pid_t shepherd_of(const std::string& id) const {
        for (const auto& entry : fs::directory_iterator(server.home() / "mom_priv/jobs")) {
            const std::string name = entry.path().filename();
            if (!name.starts_with(id) || !name.ends_with(".started")) continue;
            const int fd = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
            struct flock lock {};
            lock.l_type = F_WRLCK;
            lock.l_len = 1;  // the shepherd locks this byte; the warden locks the next one
            const int asked = ::fcntl(fd, F_GETLK, &lock);
            ::close(fd);
            if (asked == 0 && lock.l_type != F_UNLCK) return lock.l_pid;
        }
        return 0;
    }

    const std::string in_work_ = "cd $PBS_O_WORKDIR\n";
    const std::string wait_for_go_ =
        "touch $PBS_O_WORKDIR/running\nwhile [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.05; done\n";
};

TEST_F(Faults, AJobRunsOnWhileTheServerIsDead) {
    const std::string id =
        server.submit(in_work_ + "echo begun >> marks\n" + wait_for_go_ + "echo ended >> marks\nexit 5\n");
    ASSERT_TRUE(wait_file("running"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(id, "job_state"), "R");
    make("go");
    ASSERT_TRUE(wait_ended(id));
    EXPECT_EQ(file("marks"), "begun\nended\n");
    EXPECT_THAT(records('E', id), testing::ElementsAre(ContainsRegex(" Exit_status=5 .* run_count=1$")));
}

TEST_F(Faults, AJobThatEndedMeanwhileIsClosedAtTheNextStart) {
    const std::string id = server.submit(wait_for_go_ + "exit 6\n");
    ASSERT_TRUE(wait_file("running"));
    server.kill9();
    make("go");
    const auto jobs = server.home() / "mom_priv/jobs";
    ASSERT_TRUE(wait_for([&] { return fs::exists(jobs / (id + ".1.exit")); }));
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_ended(id));
    EXPECT_THAT(records('E', id), testing::ElementsAre(HasSubstr(" Exit_status=6 ")));
    EXPECT_THAT(records('S', id), testing::SizeIs(1));
    EXPECT_TRUE(wait_for([&] { return fs::is_empty(jobs); }));
}

// Returns the number of running jobs that policy.db has charged to past usage.
int charges(const fs::path& home) {
    sqlite3* database = nullptr;
    sqlite3_stmt* query = nullptr;
    int found = -1;
    if (sqlite3_open_v2((home / "server_priv/policy.db").c_str(), &database, SQLITE_OPEN_READWRITE,
                        nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "SELECT count(*) FROM charge", -1, &query, nullptr) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        found = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(database);
    return found;
}

TEST_F(Faults, TheChargeOfAJobThatEndedMeanwhileIsClosed) {
    ASSERT_TRUE(server.configure({"set policy default_policy sort_by_past_usage = True"}));
    const std::string id = server.submit(wait_for_go_);
    ASSERT_TRUE(wait_file("running"));
    ASSERT_TRUE(wait_for([&] { return charges(server.home()) == 1; }));
    server.kill9();
    make("go");
    const auto jobs = server.home() / "mom_priv/jobs";
    ASSERT_TRUE(wait_for([&] { return fs::exists(jobs / (id + ".1.exit")); }));
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_ended(id));
    EXPECT_TRUE(wait_for([&] { return charges(server.home()) == 0; }));
}

TEST_F(Faults, WalltimeIsEnforcedWhileTheServerIsDead) {
    const std::string id = server.submit(wait_for_go_, {"-l", "walltime=2"});
    ASSERT_TRUE(wait_file("running"));
    server.kill9();
    ASSERT_TRUE(
        wait_for([&] { return fs::exists(server.home() / "mom_priv/jobs" / (id + ".1.exit")); }, 20s));
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_ended(id));
    EXPECT_THAT(records('E', id), testing::ElementsAre(HasSubstr(" Exit_status=-29 ")));
}

TEST_F(Faults, ACleanStopLeavesJobsRunning) {
    const std::string id = server.submit(wait_for_go_ + "exit 7\n");
    ASSERT_TRUE(wait_file("running"));
    ASSERT_TRUE(server.stop());
    ASSERT_TRUE(server.start());
    make("go");
    ASSERT_TRUE(wait_ended(id));
    EXPECT_THAT(records('E', id), testing::ElementsAre(HasSubstr(" Exit_status=7 ")));
}

TEST_F(Faults, JobsWhoseShepherdsWereKilledAreRunAgainOrClosed) {
    const std::string again = server.submit(in_work_ + "echo run >> again\n" + wait_for_go_ + "exit 8\n");
    const std::string once =
        server.submit(in_work_ + "echo run >> once\ntouch once.running\nsleep 300\n", {"-r", "n"});
    ASSERT_TRUE(wait_file("running") && wait_file("once.running"));
    server.kill9();
    for (const auto& id : {again, once}) {
        const pid_t shepherd = shepherd_of(id);
        ASSERT_GT(shepherd, 1);
        ::kill(shepherd, SIGKILL);
    }
    ASSERT_TRUE(wait_for([&] { return shepherd_of(again) == 0 && shepherd_of(once) == 0; }));
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_ended(once));
    EXPECT_THAT(records('E', once), testing::ElementsAre(HasSubstr(" Exit_status=-4 ")));
    EXPECT_EQ(file("once"), "run\n");
    make("go");
    ASSERT_TRUE(wait_ended(again));
    EXPECT_THAT(records('R', again), testing::SizeIs(1));
    EXPECT_THAT(records('E', again), testing::ElementsAre(ContainsRegex(" Exit_status=8 .* run_count=2$")));
    EXPECT_EQ(file("again"), "run\nrun\n");
}

// Kills the server again and again, at any moment, while jobs are queued, started and ended.
TEST_F(Faults, NoJobIsLostOrRunTwiceHoweverOftenTheServerIsKilled) {
    constexpr int kJobs = 24;
    std::map<std::string, int> exit_of;
    std::srand(4711);
    for (int i = 0; i < kJobs; ++i) {
        const std::string id =
            server.submit(in_work_ + fmt::format("echo $PBS_JOBID >> marks.{}\nsleep 0.{}\nexit {}\n", i,
                                                 std::rand() % 9 + 1, i + 1));
        ASSERT_NE(id, "");
        exit_of[id] = i + 1;
    }
    const auto all_ended = [&] {
        const std::string text = server.accounting();
        return std::all_of(exit_of.begin(), exit_of.end(), [&](const auto& job) {
            return text.find(";E;" + job.first + ";") != std::string::npos;
        });
    };
    for (int kills = 0; kills < 15 && !all_ended(); ++kills) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::rand() % 400));
        server.kill9();
        ASSERT_TRUE(server.start());
    }
    ASSERT_TRUE(wait_for(all_ended, 40s));
    for (const auto& [id, status] : exit_of) {
        EXPECT_THAT(records('E', id),
                    testing::ElementsAre(HasSubstr(fmt::format(" Exit_status={} ", status))))
            << id;
        EXPECT_EQ(file(fmt::format("marks.{}", status - 1)), id + "\n");
    }
    EXPECT_EQ(server.command({"qstat"}).out, "");
    EXPECT_TRUE(wait_for([&] { return fs::is_empty(server.home() / "mom_priv/jobs"); }));
}

// Sends submissions without waiting for replies, until the server dies. Returns the numbers of the
// acknowledged jobs.
std::vector<int64_t> submit_until_the_end(const fs::path& socket_path, std::atomic<int>& acknowledged) {
    std::vector<int64_t> known;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
    ifl::ReplyDecoder replies;
    std::vector<char> bytes(size_t{64} << 10);
    const std::string one =
        ifl::request_packet({ifl::RequestType::queue_job, "", ifl::QueueJob{"", "", {}}, ""}) +
        ifl::request_packet({ifl::RequestType::job_script, "", ifl::JobScript{0, 0, "", "true\n"}, ""}) +
        ifl::request_packet({ifl::RequestType::commit, "", ifl::JobId{""}, ""});
    std::string ahead;
    for (int i = 0; i < 8; ++i) ahead += one;
    bool goes_on = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                   send(fd, ahead.data(), ahead.size(), MSG_NOSIGNAL) > 0;
    while (goes_on) {
        const ssize_t n = recv(fd, bytes.data(), bytes.size(), 0);
        if (n <= 0) break;
        replies.feed({bytes.data(), static_cast<size_t>(n)});
        for (auto next = replies.next(); goes_on; next = replies.next()) {
            const auto* reply = std::get_if<ifl::Reply>(&next);
            if (reply == nullptr) break;
            const auto* committed = std::get_if<ifl::CommitReply>(&reply->body);
            if (committed == nullptr) continue;
            known.push_back(std::strtoll(committed->job.c_str(), nullptr, 10));
            ++acknowledged;
            goes_on = send(fd, one.data(), one.size(), MSG_NOSIGNAL) > 0;
        }
    }
    ::close(fd);
    return known;
}

// Submissions at the same time share a commit. They are acknowledged only when the commit is on the disk.
TEST_F(Faults, NoSubmissionThatWasAcknowledgedIsLost) {
    ASSERT_TRUE(server.configure({"set server scheduling = False", "set server acl_roots += root@*",
                                  "set server default_queue = batch"}));
    constexpr size_t kClients = 4;
    std::vector<int64_t> expected;
    for (int kills = 0; kills < 5; ++kills) {
        std::atomic<int> acknowledged = 0;
        std::array<std::vector<int64_t>, kClients> known;
        std::vector<std::thread> clients;
        for (auto& of_one : known)
            clients.emplace_back([&of_one, &acknowledged, this] {
                of_one = submit_until_the_end(server.home() / "server_priv/pbs.sock", acknowledged);
            });
        EXPECT_TRUE(wait_for([&] { return acknowledged > 40 * (kills + 1); }, 40s));
        server.kill9();
        for (std::thread& client : clients) client.join();
        for (const auto& of_one : known) expected.insert(expected.end(), of_one.begin(), of_one.end());
        ASSERT_TRUE(server.start());
    }
    std::vector<int64_t> stored;
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((server.home() / "server_priv/server.db").c_str(), &db), SQLITE_OK);
    const auto take = [](void* to, int, char** values, char**) {
        static_cast<std::vector<int64_t>*>(to)->push_back(std::strtoll(values[0], nullptr, 10));
        return 0;
    };
    EXPECT_EQ(sqlite3_exec(db, "SELECT job.sequence FROM job JOIN job_script USING(sequence)", take, &stored,
                           nullptr),
              SQLITE_OK);
    sqlite3_close(db);
    EXPECT_GT(expected.size(), 200U);
    EXPECT_THAT(stored, testing::IsSupersetOf(expected));
    std::ranges::sort(expected);
    EXPECT_EQ(std::ranges::adjacent_find(expected), expected.end()) << "no number is given twice";
}

// ---- Full disks: a small file system is mounted on a folder of the server. ----

class FullDisk : public ::testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "not root: no file system of a test's own can be mounted";
    }
    void TearDown() override {
        server_.reset();
        for (const auto& path : mounted_) ::umount2(path.c_str(), MNT_DETACH);
    }
    bool mount(const fs::path& directory, const std::string& size, unsigned long flags = 0) {
        fs::create_directories(directory);
        if (::mount("tmpfs", directory.c_str(), "tmpfs", flags, ("mode=755,size=" + size).c_str()) != 0)
            return false;
        if (flags == 0) mounted_.push_back(directory);
        return true;
    }
    static void fill(const fs::path& directory) {
        std::ofstream file(directory / "filler", std::ios::binary);
        const std::string block(4096, 'x');
        while (file.write(block.data(), 4096).flush()) {
        }
    }
    bool accounted(const std::string& text) const {
        return wait_for([&] { return server_->accounting().find(text) != std::string::npos; }, 30s);
    }
    bool configure() const {
        return server_->configure(
            {"create queue submit queue_type=execution, enabled=True, started=True",
             "create queue batch queue_type=execution, enabled=True, started=True",
             "set queue batch resources_max.ncpus = 8",
             "set server default_queue = submit, resources_default.walltime = 00:10:00",
             "create node n1 resources_available.ncpus = 8, resources_available.mem = 8gb",
             "set policy default_policy algorithm = origin, submit_queue = submit, batch_queues = batch"});
    }

    std::unique_ptr<Server> server_ = std::make_unique<Server>();
    std::vector<fs::path> mounted_;
};

TEST_F(FullDisk, AccountingIsWrittenLater) {
    const auto directory = server_->home() / "server_priv/accounting";
    if (!mount(directory, "64k")) GTEST_SKIP() << "no right to mount a tmpfs";
    ASSERT_TRUE(server_->start());
    ASSERT_TRUE(configure());
    fill(directory);
    const std::string id = server_->submit("exit 9\n");
    ASSERT_TRUE(wait_for([&] { return server_->command({"qstat"}).out.empty(); }, 30s));
    EXPECT_THAT(server_->log(), HasSubstr("No space left on device; records are kept"));
    EXPECT_THAT(server_->accounting(), Not(HasSubstr(";E;" + id)));
    fs::remove(directory / "filler");
    EXPECT_TRUE(accounted(";E;" + id + ";"));
    EXPECT_THAT(server_->accounting(), ContainsRegex(";E;" + id + ";.* Exit_status=9 "));
    ASSERT_TRUE(server_->stop());
}

TEST_F(FullDisk, TheServerRefusesWorkAndGoesOn) {
    if (!mount(server_->home(), "6m")) GTEST_SKIP() << "no right to mount a tmpfs";
    ASSERT_TRUE(server_->start());
    ASSERT_TRUE(configure());
    const std::string id =
        server_->submit("cd $PBS_O_WORKDIR\ntouch running\nwhile [ ! -e go ]; do sleep 0.05; done\nexit 10\n",
                        {"-o", "/dev/null", "-e", "/dev/null"});
    // When this file exists, the job's session is on the disk.
    ASSERT_TRUE(wait_for([&] { return fs::exists(server_->work() / "running"); }, 30s));
    fill(server_->home());
    const auto refused =
        server_->command_as(runner(), {"qsub"}, {.input = "true\n", .folder = server_->work()});
    EXPECT_NE(refused.exit, 0);
    EXPECT_NE(refused.err, "");
    EXPECT_TRUE(server_->running());
    EXPECT_THAT(server_->command({"qstat"}).out, HasSubstr("batch"));
    fs::remove(server_->home() / "filler");
    std::ofstream(server_->work() / "go") << "x";
    EXPECT_TRUE(accounted(";E;" + id + ";"));
    EXPECT_THAT(server_->accounting(), HasSubstr(" Exit_status=10 "));
    const std::string next = server_->submit("true\n");
    EXPECT_TRUE(accounted(";E;" + next + ";"));
    ASSERT_TRUE(server_->stop());
}

}  // namespace
}  // namespace pbs::e2e
