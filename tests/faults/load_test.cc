// Puts a server under load: clients at the same time submit jobs of all kinds, change, move and delete them,
// ask for listings and explanations, change policies, queues and vnodes, export and import the configuration,
// and reserve. Then checks that each job has ended once or was deleted, that the server's use of the machine
// doesn't grow, and that the server ends cleanly. In a build with sanitizers none of them may report
// anything, in the server, its helpers or the commands.
//
// CTest runs this for some seconds. PBSPOLICY_LOAD=1800 makes it run for 1800 seconds, and
// PBSPOLICY_SEED=SEED repeats the choices.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/e2e/harness.h"
#include "tests/faults/environment.h"
#include "tests/faults/machine_use.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The reports of sanitizers, each in a file of a folder into which programs of all users write.
class Reports {
  public:
    Reports() {
        std::string name = (fs::temp_directory_path() / "pbs-reports-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
        fs::permissions(folder_, fs::perms(0777));
    }
    ~Reports() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    Reports(const Reports&) = delete;
    Reports& operator=(const Reports&) = delete;

    // Returns the environment variables that make sanitizers write into the folder.
    std::map<std::string, std::string> environment() const {
        std::map<std::string, std::string> all;
        for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
            all[name] = "print_stacktrace=1:log_path=" + (folder_ / name).string();
        // A small quarantine of freed memory, so that the process stops growing early.
        all["ASAN_OPTIONS"] += ":quarantine_size_mb=16";
        return all;
    }
    std::string text() const {
        std::string all;
        for (const auto& entry : fs::directory_iterator(folder_)) all += test::file_text(entry.path());
        return all;
    }

  private:
    fs::path folder_;
};

class Load : public ::testing::Test {
  protected:
    static constexpr int kClients = 4;
    static constexpr int kPhases = 3;
    static constexpr int kSubjobs = 10;

    struct Job {
        bool array = false;
        bool deleted = false;  // qdel deleted it
    };
    // A client, which has a thread of its own.
    struct Client {
        int number = 0;
        std::mt19937 random{};
        std::vector<std::string> ids{};           // of its jobs
        std::vector<std::string> reservations{};  // those that it hasn't deleted

        int below(int count) { return std::uniform_int_distribution(0, count - 1)(random); }
        std::string some_job() {
            // Take one of the last jobs, because the others have ended.
            const int last = std::min(static_cast<int>(ids.size()), 8);
            return last == 0 ? "" : ids[ids.size() - 1 - static_cast<std::size_t>(below(last))];
        }
    };

    void SetUp() override {
        NEEDS(own_server);
        server_ = std::make_unique<Server>(
            Server::Options{.patience = 120s, .environment = reports_.environment()});
        ASSERT_TRUE(server_->start());
        ASSERT_TRUE(server_->configure(
            {"create queue work queue_type=execution, enabled=True, started=True",
             "create queue other queue_type=execution, enabled=True, started=True, Priority=50",
             "create node n1 resources_available.ncpus=48", "create node n2 resources_available.ncpus=48",
             "create time_window day rrule=FREQ=DAILY, start_time=0800, end_time=1800, type=prime",
             "create policy busy backfill_depth=5", "create policy idle backfill_depth=0",
             "create quota most rule.all=\"users={*} to ncpus=60\", enabled=True",
             "set policy busy quotas=most", "set sched default policy='default_policy,p:busy,np:idle'",
             "set server default_queue=work, job_history_enable=True, job_history_duration=01:00:00"}));
    }

    // ---- Requests of the clients. ----

    // Runs a command. It may be refused only because its job or reservation is over, or for the reason
    // `also`.
    Output ask(bool as_manager, const std::vector<std::string>& argv, std::string_view also = {},
               const std::string& input = {}) {
        const RunOptions options{.input = input,
                                 .environment = reports_.environment(),
                                 .folder = server_->work(),
                                 .timeout = 120s};
        const Output output =
            as_manager ? server_->command(argv, options) : server_->command_as(runner(), argv, options);
        ++requests_;
        if (output.exit == 0) return output;
        ++refusals_;
        bool may_be = !also.empty() && output.err.find(also) != std::string::npos;
        for (const char* reason :
             {"Unknown Job Id", "has finished", "invalid for state", "Unknown Reservation"})
            may_be = may_be || output.err.find(reason) != std::string::npos;
        if (!may_be) ADD_FAILURE() << fmt::format("{}", fmt::join(argv, " ")) << ": " << output;
        return output;
    }
    void submit(Client& client, std::vector<std::string> options, const char* program = "/bin/true") {
        std::vector<std::string> argv{"qsub", "-S",        "/bin/sh", "-o",          "/dev/null",
                                      "-e",   "/dev/null", "-l",      "walltime=100"};
        argv.insert(argv.end(), options.begin(), options.end());
        argv.insert(argv.end(), {"--", program});
        if (std::string_view(program).ends_with("sleep")) argv.emplace_back("0.2");
        const Output output = ask(false, argv);
        if (output.exit != 0) return;
        const std::string id = output.out.substr(0, output.out.find('\n'));
        client.ids.push_back(id);
        const std::lock_guard lock(mutex_);
        jobs_[id] = {.array = id.find("[]") != std::string::npos};
    }
    void delete_job(const std::string& id) {
        if (ask(false, {"qdel", id}).exit != 0) return;
        const std::lock_guard lock(mutex_);
        jobs_[id].deleted = true;
    }
    void change_job(Client& client) {
        const std::string id = client.some_job();
        if (id.empty()) return;
        switch (client.below(6)) {
            case 0:
                return delete_job(id);
            case 1:
                ask(false, {"qhold", id});
                ask(false, {"qrls", id});
                return;
            case 2:
                ask(false, {"qmove", client.below(2) == 0 ? "other" : "work", id});
                return;
            case 3:
                ask(false, {"qalter", "-N", "renamed", id});
                return;
            case 4:
                ask(false, {"pbs_explain", id});
                return;
            default:
                ask(false, {"qstat", "-x", "-f", id});
        }
    }
    void change_objects(Client& client) {
        const std::string own = fmt::format("{}{}", "own", client.number);
        switch (client.below(6)) {
            case 0:
                ask(true, {"qmgr", "-c", fmt::format("set policy busy backfill_depth={}", client.below(9))});
                return;
            case 1:
                ask(true, {"qmgr", "-c",
                           fmt::format("set node n2 resources_available.ncpus={}", 40 + client.below(9))});
                return;
            case 2:
                // An import of another client may have brought the queue back.
                ask(true, {"qmgr", "-c", "create queue " + own + " queue_type=execution"}, "exists");
                ask(true, {"qmgr", "-c", "delete queue " + own});
                return;
            case 3:
                ask(true, {"qmgr", "-c", "create policy " + own}, "exists");
                ask(true, {"qmgr", "-c", "delete policy " + own});
                return;
            case 4: {
                const fs::path path = server_->work() / (own + ".json");
                std::ofstream(path) << ask(true, {"pbs_config", "export"}).out;
                ask(true, {"pbs_config", "import", path.string()});
                return;
            }
            default:
                ask(false, {"pbs_quota"});
        }
    }
    void change_reservations(Client& client) {
        if (client.reservations.size() < 2) {
            const std::chrono::sys_seconds begin{std::chrono::seconds(phase_begin_) +
                                                 std::chrono::minutes(120 + client.below(60))};
            const Output output = ask(false, {"pbs_rsub", "-R", fmt::format("{:%Y%m%d%H%M}", begin), "-D",
                                              "60", "-l", "select=1:ncpus=2"});
            if (output.exit == 0) client.reservations.push_back(output.out.substr(0, output.out.find(' ')));
            return;
        }
        ask(false, {"pbs_rdel", client.reservations.front()});
        client.reservations.erase(client.reservations.begin());
    }
    void round(Client& client) {
        submit(client, {"-J", fmt::format("1-{}", kSubjobs), "-l", "ncpus=1"}, "/bin/sleep");
        submit(client, {"-l", "select=2:ncpus=3"});
        if (!client.ids.empty())
            submit(client, {"-l", "ncpus=2", "-W", "depend=afterany:" + client.ids.back()});
        ask(false, {"qstat", "-f"});
        ask(false, {"qstat", "-T"});
        change_job(client);
        change_objects(client);
        if (client.below(3) == 0) change_reservations(client);
    }

    // ---- After the load. ----

    // Lets the clients ask for a while. Then waits until all jobs are over and gone from the history.
    void phase(std::chrono::milliseconds length) {
        const auto until = Clock::now() + length;
        {
            std::vector<std::jthread> threads;
            for (Client& client : clients_)
                threads.emplace_back([&] {
                    do round(client);
                    while (Clock::now() < until && !HasFailure());
                    for (const std::string& id : client.reservations) ask(false, {"pbs_rdel", id});
                    client.reservations.clear();
                });
        }
        ASSERT_TRUE(server_->running()) << "the server has ended";
        ASSERT_TRUE(wait_for([&] { return server_->command({"qselect"}).out.empty(); }, 60s + length))
            << server_->command({"qstat", "-f"}).out;
        phase_begin_ += 4 * 3600;
        server_->set_clock(phase_begin_);
        ASSERT_TRUE(wait_for([&] {
            return server_->command({"qstat", "-x"}).out.empty();
        })) << server_->command({"qstat", "-x"}).out;
        // Shepherds and their files outlast the ends of the last jobs.
        EXPECT_TRUE(wait_for([&] { return fs::is_empty(server_->home() / "mom_priv/jobs"); }));
    }
    void check_ends() {
        std::map<std::string, int> ends;
        std::istringstream records(server_->accounting());
        for (std::string line; std::getline(records, line);)
            if (const auto at = line.find(";E;"); at != std::string::npos)
                ++ends[line.substr(at + 3, line.find(';', at + 3) - at - 3)];
        for (const auto& [id, count] : ends) EXPECT_EQ(count, 1) << "ends of " << id;
        for (const auto& [id, job] : jobs_) {
            if (job.deleted) continue;
            if (!job.array) EXPECT_EQ(ends[id], 1) << id;
            for (int i = 1; job.array && i <= kSubjobs; ++i) {
                const std::string subjob =
                    id.substr(0, id.find('[') + 1) + std::to_string(i) + id.substr(id.find(']'));
                EXPECT_EQ(ends[subjob], 1) << subjob;
            }
        }
    }

    const Reports reports_;
    std::unique_ptr<Server> server_;
    std::int64_t phase_begin_ = kMonday10;
    std::vector<Client> clients_;
    std::atomic<int> requests_{0};
    std::atomic<int> refusals_{0};
    std::mutex mutex_;
    std::map<std::string, Job> jobs_;  // those whose submission was acknowledged
};

TEST_F(Load, EndsEachJobOnceAndUsesNoMoreOfTheMachine) {
    const auto length = std::chrono::milliseconds(environment_number("PBSPOLICY_LOAD", 3) * 1000 / kPhases);
    const unsigned seed = random_seed();
    SCOPED_TRACE(fmt::format("PBSPOLICY_SEED={}", seed));
    for (int i = 0; i < kClients; ++i)
        clients_.push_back({.number = i, .random = std::mt19937(seed + static_cast<unsigned>(i))});
    std::vector<MachineUse> uses;
    for (int i = 0; i < kPhases; ++i) {
        phase(length);
        if (HasFailure()) break;
        uses.push_back(machine_use("/proc/" + std::to_string(server_->pid()), server_->home()));
        std::printf("load: seed %u, %zu jobs, %d requests (%d refused): %s\n", seed, jobs_.size(),
                    requests_.load(), refusals_.load(), text_of(uses.back()).c_str());
        std::fflush(stdout);
    }
    if (!HasFailure()) check_ends();
    EXPECT_TRUE(server_->stop());
    EXPECT_EQ(reports_.text(), "");
    if (HasFailure()) return;
    const MachineUse& first = uses[1];  // memory still grows in the first phase
    const MachineUse& last = uses.back();
    // Allow for memory that fills up to a fixed size, as for the last changes of objects, or that sanitizers
    // keep; and for the history of objects, and commits that weren't yet copied into the databases.
    constexpr long kMoreMemory = PBS_SANITIZED != 0 ? 64 * 1024 : 8 * 1024;
    constexpr long kMoreDescriptors = 2;
    constexpr long kMoreDatabases = 1024;
    EXPECT_LE(last.resident_kb, first.resident_kb + first.resident_kb / 20 + kMoreMemory);
    EXPECT_LE(last.descriptors, first.descriptors + kMoreDescriptors);
    EXPECT_LE(last.threads, first.threads);
    EXPECT_LE(last.databases_kb, first.databases_kb + first.databases_kb / 10 + kMoreDatabases);
}

}  // namespace
}  // namespace pbs::e2e
