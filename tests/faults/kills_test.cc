// Kills the server, its launcher, wardens and shepherds, and pbs_web at random instants. Meanwhile, jobs of
// all kinds are submitted, run, preempted and moved to another server, and the configuration changes and goes
// back to earlier revisions. Then checks that acknowledged changes are there, that a change of both databases
// is in both or in neither, that pbs_web shows the latest change, and that each job has run once, unless its
// shepherd or warden was killed.
//
// CTest runs this for some seconds with a seed that it prints. PBSPOLICY_SEED=SEED repeats the choices, and
// PBSPOLICY_KILLS=600 makes it run for 600 seconds.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/harness.h"
#include "tests/faults/environment.h"
#include "tests/faults/scene.h"
#include "tests/faults/web_beside.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Kills : public ::testing::Test {
  protected:
    struct Job {
        bool runs_again = true;
        int status = 0;
        int subjobs = 0;       // number of subjobs; 0: the job isn't an array
        bool deleted = false;  // its deletion was requested
        bool held = false;
        bool away = false;  // it has to be moved to the other server
        std::string after{};
        bool only_if_ok = false;
    };
    struct Site {
        Site() : near({.arguments = {"--name", "near"}}), far({.arguments = {"--name", "far"}}) {}
        Server near;
        Server far;
        WebBeside web{near};
    };

    void SetUp() override {
        NEEDS(own_server);
        if (::geteuid() != 0) GTEST_SKIP() << "servers know each other by ports that only root may use";
        seed_ = random_seed();
        random_.seed(seed_);
    }
    void TearDown() override {
        if (IsSkipped()) return;
        std::printf(
            "kills: seed %u, %d of servers, %d of launchers, %d of wardens, %d of shepherds, %d of pbs_web; "
            "%zu jobs with %d runs, %d imports, %d rollbacks, %d answers of pbs_web\n",
            seed_, kills_[0].load(), kills_[1].load(), kills_[2].load(), kills_[3].load(), kills_[4].load(),
            all_jobs_, all_runs_, imports_.load(), rollbacks_.load(), answers_.load());
    }

    int random(int below) {
        const std::lock_guard lock(mutex_);
        return std::uniform_int_distribution(0, below - 1)(random_);
    }
    fs::path runs() const { return site_->near.work() / "runs"; }

    // ---- Requests that clients send while processes are killed. ----

    // Returns whether the request was acknowledged. If it wasn't, the error must be a lost connection.
    bool acknowledged(const std::string& name, const Output& output) {
        ++asked_;
        if (output.exit != 0) EXPECT_TRUE(lost_connection(output)) << name << ": " << output;
        return output.exit == 0;
    }
    void submit(Job job, std::vector<std::string> options = {}) {
        job.runs_again = job.subjobs > 0 || random(2) == 0;
        const std::string script =
            fmt::format("echo S $PBS_JOBID >> {0}\nsleep 0.{1}\necho E $PBS_JOBID >> {0}\nexit {2}\n",
                        runs().string(), random(5), job.status);
        std::vector<std::string> argv{"qsub",
                                      "-S",
                                      "/bin/sh",
                                      "-o",
                                      "/dev/null",
                                      "-e",
                                      "/dev/null",
                                      "-l",
                                      "walltime=0:10:00",
                                      "-r",
                                      job.runs_again ? "y" : "n"};
        argv.insert(argv.end(), options.begin(), options.end());
        const Output output = site_->near.command_as(runner(), argv, {.input = script});
        if (!acknowledged("qsub", output)) return;
        const std::lock_guard lock(mutex_);
        jobs_[output.out.substr(0, output.out.find('\n'))] = job;
    }
    std::string some_job(const std::function<bool(const Job&)>& wanted) {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> found;
        for (const auto& [id, job] : jobs_)
            if (wanted(job)) found.push_back(id);
        return found.empty() ? "" : found[random_() % found.size()];
    }
    void change_jobs() {
        switch (random(10)) {
            case 0:
                return submit({.subjobs = 3}, {"-J", "1-3"});
            case 1: {
                const bool ok = random(2) == 0;
                const std::string first = some_job([](const Job& job) {
                    return job.subjobs == 0 && !job.deleted && !job.held && !job.away && job.after.empty();
                });
                if (first.empty()) return;
                return submit({.after = first, .only_if_ok = ok},
                              {"-W", fmt::format("depend={}:{}", ok ? "afterok" : "afterany", first)});
            }
            case 2:
                return submit({.held = true}, {"-h"});
            case 3: {
                const std::string id = some_job([](const Job& job) { return job.held; });
                if (id.empty()) return;
                const Output output = site_->near.command_as(runner(), {"qrls", id});
                const std::lock_guard lock(mutex_);
                if (output.exit == 0) jobs_[id].held = false;
                return;
            }
            case 4: {
                const std::string id = some_job([](const Job& job) { return !job.away; });
                if (id.empty() || random(3) != 0) return;
                {
                    const std::lock_guard lock(mutex_);
                    jobs_[id].deleted = true;
                    jobs_[id].held = false;
                }
                (void)site_->near.command_as(runner(), {"qdel", id});
                return;
            }
            case 5:
                return submit({}, {"-q", "express", "-l", "select=1:ncpus=4"});
            case 6:
                return submit({.away = true}, {"-q", "away"});
            case 7: {
                const std::string id = some_job([](const Job& job) { return job.away; });
                if (!id.empty()) (void)move(id);
                return;
            }
            default:
                return submit({.status = random(4)});
        }
    }
    Output move(const std::string& id) {
        return site_->near.command({"qmove", fmt::format("work@localhost:{}", site_->far.port()), id});
    }
    // Sets a policy's and a queue's attribute to the same number, by an import or a rollback. They are in
    // different databases.
    void change_configuration() {
        const auto requested = [&](const char* name, const std::vector<std::string>& argv, int number) {
            unanswered_.insert(number);
            if (!acknowledged(name, site_->near.command(argv))) return false;
            unanswered_.clear();
            number_ = number;
            return true;
        };
        if (!revisions_.empty() && random(3) == 0) {
            const auto [revision, number] =
                revisions_[static_cast<std::size_t>(random(static_cast<int>(revisions_.size())))];
            if (requested("rollback", {"pbs_config", "rollback", std::to_string(revision)}, number))
                ++rollbacks_;
            return;
        }
        const int number = ++last_number_;
        const fs::path path = site_->near.work() / "document.json";
        std::ofstream(path) << fmt::format(
            R"({{"format": 1, "policy": {{"p": {{"backfill_depth": "{0}"}}}},
                 "host": {{"queue": {{"work": {{"Priority": "{0}"}}}}}}}})",
            number);
        if (!requested("import", {"pbs_config", "import", path.string()}, number)) return;
        ++imports_;
        // Nobody else changes the configuration, so the latest revision is that of the import.
        if (const int revision = latest_revision(); revision > 0) revisions_.emplace_back(revision, number);
    }
    // Returns the latest revision of the configuration; 0: the server couldn't be asked.
    int latest_revision() const {
        const Output history = site_->near.command({"pbs_config", "history", "--limit", "1", "--json"});
        const auto read = nlohmann::json::parse(history.out, nullptr, false);
        if (history.exit != 0 || !read.is_array() || read.empty()) return 0;
        return read.back().value("revision", 0);
    }
    // Asks pbs_web, which may be killed meanwhile, or have no server. An answer that comes is complete.
    // JSON has the member "error" exactly if the HTTP status isn't 200.
    void ask_web() {
        static constexpr const char* kAddresses[] = {"/now.json", "/why.json", "/changes.json", "/when.json"};
        if (random(2) == 0) {
            const auto metrics = site_->web.get("/metrics");
            if (metrics.status == 0) return;
            EXPECT_EQ(metrics.status, 200);
            EXPECT_NE(metrics.body.find("\npbs_up "), std::string::npos) << metrics.body;
        } else {
            const char* address = kAddresses[random(4)];
            const auto answer = site_->web.get(address);
            if (answer.status == 0) return;
            const auto told = nlohmann::json::parse(answer.body, nullptr, false);
            EXPECT_TRUE(told.is_object()) << address << ": " << answer.body;
            EXPECT_EQ(answer.status != 200, told.is_object() && told.contains("error"))
                << address << ": " << answer.status << " " << answer.body;
        }
        ++answers_;
    }
    void change_reservations() {
        const std::lock_guard only(reservations_);
        if (reserved_.size() < 3) {
            // Request a different time for each reservation, so that there is room for it.
            const std::chrono::sys_seconds begin{
                std::chrono::seconds(kMonday10 + 86400 + 3600 * ++reservations_made_)};
            const Output output =
                site_->near.command_as(runner(), {"pbs_rsub", "-R", fmt::format("{:%Y%m%d%H%M}", begin), "-D",
                                                  "1800", "-l", "select=1:ncpus=1"});
            if (acknowledged("pbs_rsub", output))
                reserved_.insert(output.out.substr(0, output.out.find(' ')));
            return;
        }
        const std::string id = *reserved_.begin();
        reserved_.erase(id);
        (void)site_->near.command_as(runner(), {"pbs_rdel", id});
    }

    // ---- Killing the server and its helpers. ----

    static pid_t launcher_of(pid_t server) {
        for (const auto& entry : fs::directory_iterator("/proc")) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            std::ifstream stat(entry.path() / "stat");
            std::string pid;
            std::string command;
            std::string state;
            pid_t parent = 0;
            if (stat >> pid >> command >> state >> parent && parent == server && command == "(pbs_shepherd)")
                return std::stoi(pid);
        }
        return 0;
    }
    // Returns the process that holds the lock of a job's start: the job's shepherd (byte 0) or its warden
    // (byte 1). Returns 0 if none does.
    static pid_t holder(const fs::path& started, int byte) {
        const int fd = ::open(started.c_str(), O_RDWR | O_CLOEXEC);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_start = byte;
        lock.l_len = 1;
        const int asked = fd < 0 ? -1 : ::fcntl(fd, F_GETLK, &lock);
        if (fd >= 0) ::close(fd);
        return asked == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
    }
    // Kills process `pid` if is_it() is true. Before calling it, makes sure that the process id can't go to
    // another process.
    static bool end(pid_t pid, const std::function<bool()>& is_it) {
        const int fd = pid <= 1 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        if (fd < 0) return false;
        const bool done = is_it() && ::syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0) == 0;
        ::close(fd);
        return done;
    }
    void kill_supervisor(const Server& server, int byte) {
        std::vector<fs::path> all;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(server.home() / "mom_priv/jobs", none))
            if (entry.path().extension() == ".started") all.push_back(entry.path());
        {
            const std::lock_guard lock(mutex_);
            std::ranges::shuffle(all, random_);
        }
        // Try all files, because most may be of jobs that have just ended.
        for (const fs::path& started : all) {
            const pid_t pid = holder(started, byte);
            if (pid == 0) continue;
            const std::string run = started.stem();
            {
                // Count the kill before it happens, as the job may run again at once.
                const std::lock_guard lock(mutex_);
                ++killed_[run.substr(0, run.rfind('.'))];
            }
            if (!end(pid, [&] { return holder(started, byte) == pid; })) continue;
            ++kills_[byte == 0 ? 3 : 2];
            return;
        }
    }
    void start_web() {
        EXPECT_TRUE(site_->web.start());
        web_killed_ = false;
    }
    void kill_web() {
        EXPECT_TRUE(site_->web.running()) << "pbs_web has ended: " << site_->web.output();
        site_->web.kill9();
        web_killed_ = true;
        ++kills_[4];
    }
    // Waits until the clients have had some answers, as they may be slow on a machine with much else to do.
    void wait_for_answers(int count) {
        const int least = asked_ + count;
        (void)wait_for([&] { return asked_ >= least; }, 5s);
    }
    // Kills helpers of the server `victim` at random instants, and at last the server itself, which has the
    // process id `pid`.
    void kill_some(Server& victim, pid_t pid) {
        for (int i = random(4); i > 0; --i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random(150)));
            const int kind = random(4);
            if (kind == 3) {
                if (web_killed_)
                    start_web();
                else
                    kill_web();
            } else if (kind == 0) {
                const pid_t launcher = launcher_of(pid);
                if (end(launcher, [&] { return launcher_of(pid) == launcher; })) ++kills_[1];
            } else {
                kill_supervisor(victim, kind - 1);
            }
        }
        wait_for_answers(random(12));
        std::this_thread::sleep_for(std::chrono::milliseconds(random(300)));
        if (::kill(pid, SIGKILL) == 0) ++kills_[0];  // kill9() later waits for this child process
    }

    // ---- Checks that must hold, whichever processes were killed. ----

    void expect_acknowledged() {
        const Server& near = site_->near;
        const std::string depth = near.attribute("policy p", "backfill_depth");
        EXPECT_EQ(depth, near.attribute("queue work", "Priority")) << "half of a change";
        const int found = std::atoi(depth.c_str());
        EXPECT_TRUE(found == number_ || unanswered_.contains(found))
            << found << " instead of " << number_ << " or " << ::testing::PrintToString(unanswered_);
        number_ = found;
        unanswered_.clear();
        const std::string listing = near.command({"qstat", "-x", "-f"}).out;
        for (const auto& [id, job] : jobs_)
            EXPECT_NE(listing.find("Job Id: " + id + "\n"), std::string::npos) << id << " is lost";
        const std::string reservations = near.command({"pbs_rstat", "-f"}).out;
        for (const std::string& id : reserved_)
            EXPECT_NE(reservations.find(id), std::string::npos) << id << " is lost";
    }
    // Expects that pbs_web has outlived the server, unless it was killed, and shows the latest change.
    void expect_web() {
        if (web_killed_) start_web();
        EXPECT_TRUE(site_->web.running()) << "pbs_web has ended: " << site_->web.output();
        const int revision = latest_revision();
        EXPECT_GT(revision, 0);
        std::string shown;
        EXPECT_TRUE(wait_for([&] {
            shown = site_->web.get("/changes.json").body;
            const auto told = nlohmann::json::parse(shown, nullptr, false);
            return told.is_object() && told.contains("changes") && !told["changes"].empty() &&
                   told["changes"][0].value("revision", 0) == revision;
        })) << "pbs_web doesn't show revision "
            << revision << ": " << shown << site_->web.output();
        EXPECT_NE(site_->web.get("/metrics").body.find("\npbs_up 1\n"), std::string::npos);
    }
    std::vector<std::string> selected(const Server& server, std::vector<std::string> options) const {
        options.insert(options.begin(), "qselect");
        std::istringstream lines(server.command(options).out);
        std::vector<std::string> ids;
        for (std::string id; lines >> id;) ids.push_back(id);
        return ids;
    }
    // Waits until all jobs have ended, also jobs whose submission wasn't answered.
    void finish() {
        const Server& near = site_->near;
        EXPECT_TRUE(wait_for(
            [&] {
                for (const std::string& id : selected(near, {"-s", "H"})) (void)near.command({"qrls", id});
                for (const std::string& id : selected(near, {"-q", "away"})) (void)move(id);
                return selected(near, {}).empty() && selected(site_->far, {}).empty();
            },
            120s))
            << near.command({"qstat", "-f"}).out << site_->far.command({"qstat", "-f"}).out;
    }
    void expect_each_ran_once() {
        struct Run {
            int begun = 0;
            int ended = 0;
            int first = 0;
            int last_end = 0;
        };
        std::map<std::string, Run> runs_of;
        std::ifstream lines(runs());
        int number = 0;
        for (std::string what, id; lines >> what >> id;) {
            Run& run = runs_of[id];
            ++number;
            if (what == "S" && run.begun++ == 0) run.first = number;
            if (what == "E") ++run.ended, run.last_end = number;
        }
        all_runs_ += number;
        std::map<std::string, int> ends;
        for (const Server* server : {&site_->near, &site_->far}) {
            std::istringstream records(server->accounting());
            for (std::string line; std::getline(records, line);)
                if (const auto at = line.find(";E;"); at != std::string::npos)
                    ++ends[line.substr(at + 3, line.find(';', at + 3) - at - 3)];
        }
        // Check jobs whose submission wasn't answered, too.
        for (const auto& [id, run] : runs_of) EXPECT_LE(run.begun, 1 + killed_[id]) << id << " ran too often";
        for (const auto& [id, count] : ends) EXPECT_EQ(count, 1) << "ends of " << id;
        for (const auto& [id, job] : jobs_) {
            std::vector<std::string> parts{id};
            if (job.subjobs > 0) parts.clear();
            for (int i = 1; i <= job.subjobs; ++i)
                parts.push_back(
                    fmt::format("{}{}{}", id.substr(0, id.find('[') + 1), i, id.substr(id.find(']'))));
            const bool may_be_dropped =
                job.only_if_ok &&
                (jobs_[job.after].deleted || jobs_[job.after].status != 0 || killed_[job.after] > 0);
            for (const std::string& part : parts) {
                const Run run = runs_of[part];
                SCOPED_TRACE(fmt::format("{}: {} begun, {} ended, killed {}, {}, status {}", part, run.begun,
                                         run.ended, killed_[part], job.runs_again ? "-r y" : "-r n",
                                         job.status));
                if (job.only_if_ok && jobs_[job.after].status != 0) EXPECT_EQ(run.begun, 0);
                if (!job.after.empty() && run.begun > 0)
                    EXPECT_GT(run.first, runs_of[job.after].last_end) << "before " << job.after;
                if (job.deleted || may_be_dropped) continue;
                if (killed_[part] > 0 && !job.runs_again) continue;
                EXPECT_GE(run.begun, 1) << "never ran";
                EXPECT_GE(run.ended, 1) << "never ended";
                EXPECT_EQ(ends[part], 1);
                if (job.subjobs == 0) {
                    const Server& where = job.away ? site_->far : site_->near;
                    EXPECT_EQ(where.job(part, "Exit_status"), std::to_string(job.status));
                }
            }
        }
        all_jobs_ += jobs_.size();
    }

    // Makes two servers, kills processes `kills` times, and checks the jobs when all have ended.
    void round(int kills) {
        site_ = std::make_unique<Site>();
        jobs_.clear();
        killed_.clear();
        reserved_.clear();
        revisions_.clear();
        unanswered_.clear();
        number_ = last_number_ = 1;
        for (Server* server : {&site_->near, &site_->far}) {
            ASSERT_TRUE(server->start());
            ASSERT_TRUE(server->configure(
                {"create queue work queue_type=execution, enabled=True, started=True, Priority=1",
                 "create queue express queue_type=execution, enabled=True, started=True, Priority=150",
                 "create queue away queue_type=execution, enabled=True",
                 "create node n1 resources_available.ncpus=4", "create policy p backfill_depth=1",
                 "set policy default_policy preempt_order=S",
                 "set server default_queue=work, flatuid=True, job_history_enable=True"}));
        }
        std::ofstream(runs()).flush();
        fs::permissions(runs(), fs::perms(0666));
        start_web();
        for (int i = 0; i < kills && !HasFailure(); ++i) {
            Server& victim = random(4) == 0 ? site_->far : site_->near;
            std::atomic<bool> over = false;
            std::vector<std::thread> clients;
            clients.emplace_back([&] {
                while (!over) change_jobs();
            });
            clients.emplace_back([&] {
                while (!over) random(3) == 0 ? change_jobs() : change_reservations();
            });
            clients.emplace_back([&] {
                while (!over) change_configuration();
            });
            clients.emplace_back([&] {
                while (!over) {
                    ask_web();
                    std::this_thread::sleep_for(20ms);
                }
            });
            kill_some(victim, victim.pid());
            over = true;
            for (std::thread& client : clients) client.join();
            victim.kill9();
            ASSERT_TRUE(victim.start());
            expect_acknowledged();
            // pbs_web takes seconds to show a change, so don't wait for it each time.
            if (i + 1 == kills || random(4) == 0) expect_web();
        }
        if (HasFailure()) return;
        finish();
        expect_each_ran_once();
    }

    std::unique_ptr<Site> site_;
    unsigned seed_ = 0;
    std::mutex mutex_;  // protects the next three members
    std::mt19937 random_;
    std::map<std::string, Job> jobs_;
    std::map<std::string, int> killed_;  // number of kills of each job's shepherd and warden
    std::mutex reservations_;
    std::set<std::string> reserved_;
    int reservations_made_ = 0;
    bool web_killed_ = false;
    std::vector<std::pair<int, int>> revisions_;  // revisions after imports, and the numbers in them
    int number_ = 1;                              // number in the configuration that was acknowledged last
    std::set<int> unanswered_;                    // numbers that were requested since then, without an answer
    int last_number_ = 1;                         // greatest number that was requested
    std::atomic<int> kills_[5] = {};              // of servers, launchers, wardens, shepherds, and pbs_web
    std::atomic<int> asked_ = 0;  // number of requests of clients that have ended, with an answer or without
    std::atomic<int> imports_ = 0;
    std::atomic<int> rollbacks_ = 0;
    std::atomic<int> answers_ = 0;
    std::size_t all_jobs_ = 0;
    int all_runs_ = 0;
};

TEST(LostConnection, IsNoRefusal) {
    EXPECT_TRUE(lost_connection({1, "", "qsub: the server closed the connection (errno=15081)\n"}));
    EXPECT_TRUE(lost_connection({1, "", "qsub: cannot connect to /h/pbs.sock: Connection refused\n"}));
    for (const char* refusal : {"qhold: Unknown Job Id 7.near\n", "qsub: Unknown queue: work\n",
                                "qmove: Server could not connect to the execution host\n"})
        EXPECT_FALSE(lost_connection({1, "", refusal})) << refusal;
}

TEST_F(Kills, LoseNothingAndRunNoJobTwice) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds(environment_number("PBSPOLICY_KILLS", 10));
    do round(10);
    while (!HasFailure() && std::chrono::steady_clock::now() < until);
}

}  // namespace
}  // namespace pbs::e2e
