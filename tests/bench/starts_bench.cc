// Measures jobs that all start, or all end, at once. Results: how many start or end per second; how long a
// user waits meanwhile for the status of one job or of the server, on a new connection each time; the longest
// turn of the server's loop that takes more than 50 ms, in wall-clock and in processor time; and the memory
// of the processes that watch a job. `external_change` and `external_starts` measure a program that
// schedules. `kernel_alone` shows the limit of the machine without a server: it starts as many processes of
// another user, each with a parent that waits for it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tests/bench/server.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::give_up;
using pbs::bench::seconds_since;
using pbs::bench::start_server;
using pbs::e2e::Server;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// ---- The server and its jobs ----

std::unique_ptr<Server> make_server() {
    auto server = start_server(std::chrono::minutes(5));
    const auto configured = server->configure({
        "set server scheduling=False",
        "create queue batch queue_type=execution,enabled=True,started=True",
        "set server default_queue=batch",
    });
    if (!configured) give_up(configured.message());
    constexpr int kVnodes = 1000;
    std::string directives;
    for (int i = 0; i < kVnodes; ++i)
        directives += fmt::format("create node n{} resources_available.ncpus=32\n", i);
    if (server->command({"qmgr"}, {.input = directives, .timeout = std::chrono::minutes(5)}).exit != 0)
        give_up("the vnodes could not be made");
    return server;
}

int connect_to(const Server& server) {
    setenv("PBS_HOME", server.home().c_str(), 1);
    const int handle = pbs_connect(nullptr);
    if (handle < 0) give_up("no connection");
    return handle;
}

void submit_as_runner(const Server& server, int64_t jobs, const std::string& script) {
    const auto& user = pbs::e2e::runner();
    if (geteuid() == 0 &&
        (initgroups(user.name.c_str(), user.gid) != 0 || setgid(user.gid) != 0 || setuid(user.uid) != 0))
        _exit(1);
    const int handle = connect_to(server);
    std::string list = "Resource_List";
    std::string ncpus = "ncpus";
    std::string one = "1";
    std::string output = "Output_Path";
    std::string error = "Error_Path";
    std::string folder = server.work().string() + "/";
    std::string variables = "Variable_List";
    std::string values = fmt::format("PBS_O_WORKDIR={0},PBS_O_HOME={0}", server.work().string());
    std::string shell = "Shell_Path_List";
    std::string sh = "/bin/sh";
    attropl fifth{nullptr, shell.data(), nullptr, sh.data(), SET};
    attropl fourth{&fifth, variables.data(), nullptr, values.data(), SET};
    attropl third{&fourth, error.data(), nullptr, folder.data(), SET};
    attropl second{&third, output.data(), nullptr, folder.data(), SET};
    attropl first{&second, list.data(), ncpus.data(), one.data(), SET};
    for (int64_t i = 0; i < jobs; ++i) {
        char* id = pbs_submit(handle, &first, script.c_str(), nullptr, nullptr);
        if (id == nullptr) {
            fmt::print(stderr, "starts_bench: {}\n", pbs_geterrmsg(handle));
            _exit(1);
        }
        std::free(id);
    }
    pbs_disconnect(handle);
    _exit(0);
}

void submit(const Server& server, int64_t jobs) {
    const std::string script = server.work() / "job.sh";
    std::ofstream(script) << "#!/bin/sh\nexec sleep 600\n";
    const pid_t child = fork();
    if (child == 0) submit_as_runner(server, jobs, script);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) give_up("submission");
}

void set_scheduling(const Server& server, bool on) {
    if (server.qmgr(fmt::format("set server scheduling={}", on ? "True" : "False")).exit != 0)
        give_up("scheduling");
}

// Counts the accounting records of a type. The server writes such a record when a job has started, or when it
// has ended.
class Records {
  public:
    explicit Records(const Server& server) : folder_(server.home() / "server_priv/accounting") {}
    int64_t count(char type) {
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            std::ifstream file(entry.path());
            file.seekg(read_[entry.path()]);
            for (std::string line; std::getline(file, line) && !file.eof();) {
                read_[entry.path()] += static_cast<std::streamoff>(line.size() + 1);
                if (const auto at = line.find(';'); at != std::string::npos) ++counts_[line[at + 1]];
            }
        }
        return counts_[type];
    }

  private:
    std::filesystem::path folder_;
    std::map<std::filesystem::path, std::streamoff> read_;
    std::map<char, int64_t> counts_;
};

// Returns the session ids of all running jobs.
std::vector<pid_t> sessions(const Server& server) {
    const int handle = connect_to(server);
    std::string name = "session_id";
    attrl only{nullptr, name.data(), nullptr, nullptr, SET};
    batch_status* all = pbs_statjob(handle, nullptr, &only, nullptr);
    std::vector<pid_t> found;
    for (const batch_status* job = all; job != nullptr; job = job->next)
        for (const attrl* at = job->attribs; at != nullptr; at = at->next)
            if (name == at->name) found.push_back(static_cast<pid_t>(std::strtol(at->value, nullptr, 10)));
    pbs_statfree(all);
    pbs_disconnect(handle);
    return found;
}

// ---- A user's waits ----

// Asks for the status of a job and of the server in turn, every 20 ms, until it is stopped. If permitted, its
// thread has a higher priority, so that it waits only for the server and not for a processor.
class Asker {
  public:
    explicit Asker(const Server& server, std::string job) : server_(server), job_(std::move(job)) {
        thread_ = std::thread([this] { ask(); });
    }
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;
    ~Asker() { stop(); }
    void stop() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }
    void report(benchmark::State& state) {
        stop();
        std::ranges::sort(waited_);
        if (waited_.empty()) give_up("nothing was asked");
        const auto at = [this](double share) {
            return waited_[static_cast<std::size_t>(share * static_cast<double>(waited_.size() - 1))];
        };
        state.counters["requests"] = static_cast<double>(waited_.size());
        state.counters["ms_50%"] = at(0.5);
        state.counters["ms_99%"] = at(0.99);
        state.counters["ms_most"] = at(1);
    }

  private:
    void ask() {
        (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), -20);
        for (bool one_job = true; !stop_; one_job = !one_job) {
            const auto begin = Clock::now();
            const int handle = connect_to(server_);
            batch_status* status = one_job ? pbs_statjob(handle, job_.c_str(), nullptr, nullptr)
                                           : pbs_statserver(handle, nullptr, nullptr);
            // The job may have ended, and then has no status.
            if (status == nullptr && !one_job) give_up("no status");
            pbs_statfree(status);
            pbs_disconnect(handle);
            const auto end = Clock::now();
            waited_.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
            std::this_thread::sleep_until(std::max(end, begin + milliseconds(20)));
        }
    }

    const Server& server_;
    std::string job_;
    std::atomic<bool> stop_{false};
    std::vector<double> waited_;
    std::thread thread_;
};

// Reports the long turns of the server's loop that were logged since this object was made.
class Turns {
  public:
    explicit Turns(const Server& server) : server_(server), begin_(server.log().size()) {}
    void report(benchmark::State& state) const {
        constexpr std::string_view kTurn = ";a turn of the loop took ";
        const std::string log = server_.log();
        double longest = 0;
        double longest_on_processor = 0;
        int count = 0;
        for (std::size_t at = begin_; (at = log.find(kTurn, at)) != std::string::npos; ++count) {
            at += kTurn.size();
            char* rest = nullptr;
            longest = std::max(longest, std::strtod(log.c_str() + at, &rest));
            longest_on_processor =
                std::max(longest_on_processor, std::strtod(rest + 4, nullptr));  // +4 skips " ms,"
        }
        state.counters["turns_over_50"] = count;
        state.counters["turn_ms_most"] = longest;
        state.counters["turn_ms_cpu_most"] = longest_on_processor;
    }

  private:
    const Server& server_;
    std::size_t begin_;
};

// ---- Memory of the processes that watch jobs ----

struct Memory {
    double own = 0;           // memory of this process alone, in kB
    double proportional = 0;  // this memory and the process's part of shared memory (PSS), in kB
};

Memory memory_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
    Memory memory;
    for (std::string line; std::getline(file, line);) {
        const double kb = std::strtod(line.c_str() + line.find(':') + 1, nullptr);
        if (line.starts_with("Private_Clean:") || line.starts_with("Private_Dirty:")) memory.own += kb;
        if (line.starts_with("Pss:")) memory.proportional = kb;
    }
    return memory;
}

pid_t parent_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("PPid:")) return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
    return 0;
}

// Reports the memory of the two processes that watch each job: the job's shepherd, and its warden, which is
// the shepherd's parent.
void report_memory(benchmark::State& state, const std::vector<pid_t>& jobs) {
    Memory shepherds;
    Memory wardens;
    for (const pid_t job : jobs) {
        const pid_t shepherd = parent_of(job);
        const Memory one = memory_of(shepherd);
        const Memory other = memory_of(parent_of(shepherd));
        shepherds.own += one.own;
        shepherds.proportional += one.proportional;
        wardens.own += other.own;
        wardens.proportional += other.proportional;
    }
    const double count = static_cast<double>(std::max<std::size_t>(1, jobs.size()));
    state.counters["kB_own_shepherd"] = shepherds.own / count;
    state.counters["kB_own_warden"] = wardens.own / count;
    state.counters["kB_pss_shepherd"] = shepherds.proportional / count;
    state.counters["kB_pss_warden"] = wardens.proportional / count;
}

// ---- The benchmarks ----

void wait_for_records(Records& records, char type, int64_t count) {
    const auto until = Clock::now() + std::chrono::minutes(10);
    while (records.count(type) < count) {
        if (Clock::now() > until)
            give_up(fmt::format("{} of {} records {}", records.count(type), count, type));
        std::this_thread::sleep_for(milliseconds(10));
    }
}

int64_t running(const Server& server) {
    return std::ssize(sessions(server));
}

void start_all(const Server& server, int64_t jobs) {
    Records records(server);
    set_scheduling(server, true);
    wait_for_records(records, 'S', jobs);
    while (running(server) < jobs) std::this_thread::sleep_for(milliseconds(50));
}

std::string last_job(const Server& server) {
    const int handle = connect_to(server);
    batch_status* all = pbs_statjob(handle, nullptr, nullptr, nullptr);
    std::string name;
    for (const batch_status* job = all; job != nullptr; job = job->next) name = job->name;
    pbs_statfree(all);
    pbs_disconnect(handle);
    return name;
}

// Measures the time from switching scheduling on until the scripts of all jobs run and the server knows this.
void measure_starts(benchmark::State& state, const Server* server) {
    submit(*server, state.range(0));
    const std::string job = last_job(*server);
    double took = 0;
    for (auto _ : state) {
        const Turns turns(*server);
        Asker asker(*server, job);
        std::this_thread::sleep_for(milliseconds(200));
        const auto begin = Clock::now();
        start_all(*server, state.range(0));
        took = seconds_since(begin);
        asker.report(state);
        turns.report(state);
    }
    state.counters["starts_per_s"] = static_cast<double>(state.range(0)) / took;
    report_memory(state, sessions(*server));
    for (const pid_t one : sessions(*server)) kill(one, SIGKILL);
    Records records(*server);
    wait_for_records(records, 'E', state.range(0));
}

void jobs_start(benchmark::State& state) {
    measure_starts(state, make_server().get());
}

// Measures the same without login shells.
void jobs_start_plain(benchmark::State& state) {
    const auto server = make_server();
    server->put("mom_priv/config", "$source_login_batch false\n");
    measure_starts(state, server.get());
}

// Measures the time from the first kill of a job's process until the last job has its accounting record.
void jobs_end(benchmark::State& state) {
    const auto server = make_server();
    submit(*server, state.range(0) + 1);
    start_all(*server, state.range(0) + 1);
    const std::string job = last_job(*server);
    auto ending = sessions(*server);
    {
        const int handle = connect_to(*server);
        batch_status* last = pbs_statjob(handle, job.c_str(), nullptr, nullptr);
        for (const attrl* at = last == nullptr ? nullptr : last->attribs; at != nullptr; at = at->next)
            if (std::string("session_id") == at->name)
                std::erase(ending, static_cast<pid_t>(std::strtol(at->value, nullptr, 10)));
        pbs_statfree(last);
        pbs_disconnect(handle);
    }
    if (std::ssize(ending) != state.range(0)) give_up("not all jobs run");
    double took = 0;
    Records records(*server);
    for (auto _ : state) {
        const Turns turns(*server);
        Asker asker(*server, job);
        std::this_thread::sleep_for(milliseconds(200));
        const auto begin = Clock::now();
        for (const pid_t one : ending) kill(one, SIGKILL);
        wait_for_records(records, 'E', state.range(0));
        took = seconds_since(begin);
        asker.report(state);
        turns.report(state);
    }
    state.counters["ends_per_s"] = static_cast<double>(state.range(0)) / took;
    for (const pid_t one : sessions(*server)) kill(one, SIGKILL);
    wait_for_records(records, 'E', state.range(0) + 1);
}

// Measures the least work that the kernel has to do for each job: it makes a process that waits, and a child
// of this process that changes its user, becomes a shell, and then becomes the shell's command.
void kernel_alone(benchmark::State& state) {
    const auto& user = pbs::e2e::runner();
    const bool root = geteuid() == 0;
    std::vector<pid_t> processes;
    double took = 0;
    for (auto _ : state) {
        const auto begin = Clock::now();
        int ends[2];  // the reader of this pipe sees its end when all processes run the command
        if (pipe2(ends, O_CLOEXEC) != 0) give_up("pipe");
        for (int64_t i = 0; i < state.range(0); ++i) {
            const pid_t parent = fork();
            if (parent == 0) {
                setsid();
                const pid_t child = fork();
                if (child == 0) {
                    if (root && (initgroups(user.name.c_str(), user.gid) != 0 || setgid(user.gid) != 0 ||
                                 setuid(user.uid) != 0))
                        _exit(1);
                    prctl(PR_SET_PDEATHSIG, SIGKILL);
                    setsid();
                    execl("/bin/sh", "sh", "-c", "exec sleep 600", nullptr);
                    _exit(1);
                }
                close(ends[1]);
                waitpid(child, nullptr, 0);
                _exit(0);
            }
            processes.push_back(parent);
        }
        close(ends[1]);
        char byte = 0;
        (void)!read(ends[0], &byte, 1);
        took = seconds_since(begin);
        close(ends[0]);
    }
    state.counters["starts_per_s"] = static_cast<double>(state.range(0)) / took;
    for (const pid_t one : processes) kill(one, SIGKILL);
    for (const pid_t one : processes) waitpid(one, nullptr, 0);
}

// ---- A program that schedules (algorithm external) ----

void set_external(const Server& server) {
    const auto configured =
        server.configure({"set policy default_policy algorithm=external", "set server scheduling=True"});
    if (!configured) give_up(configured.message());
}

std::vector<std::string> all_jobs(const Server& server) {
    const int handle = connect_to(server);
    batch_status* all = pbs_statjob(handle, nullptr, nullptr, nullptr);
    std::vector<std::string> names;
    for (const batch_status* job = all; job != nullptr; job = job->next) names.emplace_back(job->name);
    pbs_statfree(all);
    pbs_disconnect(handle);
    return names;
}

// Waits for changes as a scheduling program does, and notes when each answer with changes comes.
class ChangesTaker {
  public:
    explicit ChangesTaker(const Server& server) : handle_(connect_to(server)) {
        batch_status* record = pbs_statrecord(handle_, nullptr, nullptr);
        if (record == nullptr) give_up("no record");
        take(record);
        thread_ = std::thread([this] {
            while (!stop_) {
                batch_status* changes = pbs_statchanges(handle_, nullptr, version_, 1, nullptr);
                if (changes == nullptr) give_up("no changes");
                const std::int64_t before = version_;
                take(changes);
                if (version_ == before) continue;
                at_ = Clock::now().time_since_epoch().count();
                reached_ = version_;
            }
        });
    }
    ChangesTaker(const ChangesTaker&) = delete;
    ChangesTaker& operator=(const ChangesTaker&) = delete;
    ~ChangesTaker() {
        stop_ = true;
        thread_.join();
        pbs_disconnect(handle_);
    }
    std::int64_t reached() const { return reached_; }
    // When the last answer came.
    Clock::time_point at() const { return Clock::time_point(Clock::duration(at_)); }

  private:
    void take(batch_status* reply) {
        std::string text;
        for (const batch_status* part = reply; part != nullptr; part = part->next)
            for (const attrl* one = part->attribs; one != nullptr; one = one->next) text += one->value;
        pbs_statfree(reply);
        constexpr std::string_view kVersion = "\"version\":";
        // of a record in the first line, of changes in the last one
        const auto at = text.starts_with("{\"pbspolicy_record") ? text.find(kVersion) : text.rfind(kVersion);
        if (at == std::string::npos) give_up("no version");
        version_ = std::strtoll(text.c_str() + at + kVersion.size(), nullptr, 10);
    }

    int handle_;
    std::int64_t version_ = 0;
    std::atomic<std::int64_t> reached_{0};
    std::atomic<Clock::rep> at_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// Measures from a manager's request to change a queued job until the program that waits has the change.
void external_change(benchmark::State& state) {
    const auto server = make_server();
    submit(*server, state.range(0));
    set_external(*server);
    const auto jobs = all_jobs(*server);
    const int handle = connect_to(*server);
    ChangesTaker program(*server);
    std::vector<double> waits;
    std::string name = "Priority";
    for (auto _ : state) {
        for (int i = 0; i < 500; ++i) {
            std::this_thread::sleep_for(milliseconds(3));
            std::string value = std::to_string(i);
            attrl priority{nullptr, name.data(), nullptr, value.data(), SET};
            const std::int64_t before = program.reached();
            const auto begin = Clock::now();
            if (pbs_alterjob(handle, jobs[static_cast<std::size_t>(i) % jobs.size()].c_str(), &priority,
                             nullptr) != 0)
                give_up("no change");
            while (program.reached() == before) std::this_thread::yield();
            waits.push_back(std::chrono::duration<double, std::milli>(program.at() - begin).count());
        }
    }
    pbs_disconnect(handle);
    std::ranges::sort(waits);
    state.counters["ms_50%"] = waits[waits.size() / 2];
    state.counters["ms_99%"] = waits[waits.size() * 99 / 100];
    state.counters["ms_most"] = waits.back();
}

// The processor time that the server itself has used, in microseconds.
double processor_time(const Server& server) {
    std::ifstream file(fmt::format("/proc/{}/stat", server.pid()));
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::vector<std::string> all;
    for (std::string field; fields >> field;) all.push_back(field);
    constexpr std::size_t kUser = 11;
    constexpr std::size_t kSystem = 12;
    return (std::stod(all.at(kUser)) + std::stod(all.at(kSystem))) * 1e6 /
           static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Measures the starts that a program makes one after the other: until the last is acknowledged, and until the
// last job runs; and the server's own processor time for each. `check`: with check=True.
void external_starts(benchmark::State& state) {
    const auto server = make_server();
    submit(*server, state.range(0));
    set_external(*server);
    const char* const extend = state.range(1) != 0 ? "check=True" : nullptr;
    const auto jobs = all_jobs(*server);
    const int handle = connect_to(*server);
    Records records(*server);
    double acknowledged = 0;
    double took = 0;
    std::vector<double> waits;
    for (auto _ : state) {
        const double used = processor_time(*server);
        const auto begin = Clock::now();
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const std::string place = fmt::format("(n{}:ncpus=1)", i / 32);
            const auto asked = Clock::now();
            if (pbs_asyrunjob_ack(handle, jobs[i].c_str(), place.c_str(), extend) != 0)
                give_up(fmt::format("no start: {}", pbs_geterrmsg(handle)));
            waits.push_back(seconds_since(asked) * 1000);
        }
        acknowledged = seconds_since(begin);
        wait_for_records(records, 'S', state.range(0));
        took = seconds_since(begin);
        state.counters["server_us_per_start"] =
            (processor_time(*server) - used) / static_cast<double>(state.range(0));
    }
    pbs_disconnect(handle);
    const auto count = static_cast<double>(state.range(0));
    std::ranges::sort(waits);
    state.counters["acks_per_s"] = count / acknowledged;
    state.counters["ack_ms_99%"] = waits[waits.size() * 99 / 100];
    state.counters["starts_per_s"] = count / took;
    while (running(*server) < state.range(0)) std::this_thread::sleep_for(milliseconds(50));
    for (const pid_t one : sessions(*server)) kill(one, SIGKILL);
    wait_for_records(records, 'E', state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (const int64_t jobs : {20, 500, 2'000}) benchmark->Arg(jobs);
    benchmark->ArgName("jobs")->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

BENCHMARK(jobs_start)->Apply(sizes);
BENCHMARK(jobs_start_plain)->Apply(sizes);
BENCHMARK(jobs_end)->Apply(sizes);
BENCHMARK(external_change)->Apply(sizes);
BENCHMARK(external_starts)
    ->ArgsProduct({{20, 500, 2'000}, {0, 1}})
    ->ArgNames({"jobs", "check"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK(kernel_alone)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
