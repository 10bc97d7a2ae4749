// Measures how much one user can slow down the server for others. A hostile user has 400 connections, each
// with 20 requests for the full status of all jobs, and reads no answers. In variants, this user reads all
// answers and asks again, or asks for explanations of waiting jobs or records of cycles one after the other.
// The benchmark measures how long another user waits for the status of one job, on a new connection each
// time; and the server's memory.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "ifl/request.h"
#include "tests/bench/server.h"
#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::connect_to;
using pbs::bench::give_up;
using pbs::bench::percentile;
using pbs::bench::start_server;
using pbs::e2e::Server;
using Clock = std::chrono::steady_clock;
constexpr int kConnections = 400;
constexpr int kRequests = 20;

// Makes a server with this number of jobs. With `scheduling`, cycles consider the jobs, though none of them
// can start.
std::unique_ptr<Server> make_server(int64_t jobs, bool scheduling) {
    auto server = start_server(std::chrono::minutes(10));
    const auto configured = server->configure(
        {"set server scheduling=False",
         fmt::format("create queue batch queue_type=execution,enabled=True,started={}", scheduling),
         "set server default_queue=batch", "create node n1 resources_available.ncpus=1"});
    if (!configured) give_up(configured.message());
    constexpr int64_t kSubmitted = 20;
    for (int64_t i = 0; i < kSubmitted; ++i)
        if (server->submit("sleep 1\n", {"-l", "ncpus=2"}).empty()) give_up("submission");
    if (const auto stopped = server->stop(); !stopped) give_up(stopped.message());
    const auto copied = pbs::e2e::copy_jobs(*server, jobs / kSubmitted);
    if (!copied) give_up(copied.message());
    if (const auto started = server->start(); !started) give_up(started.message());
    return server;
}

// Runs the hostile user in its own process. If the server ends a connection, the user opens another one. With
// `reads`, the user reads the answers.
[[noreturn]] void attack(const Server& server, bool reads) {
    signal(SIGPIPE, SIG_IGN);
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
    std::string requests;
    for (int i = 0; i < kRequests; ++i)
        requests +=
            pbs::ifl::request_packet({pbs::ifl::RequestType::status_job, "nobody", pbs::ifl::Status{}, ""});
    std::vector<pollfd> all(kConnections, pollfd{-1, static_cast<short>(reads ? POLLIN : 0), 0});
    std::vector<char> bytes(size_t{64} << 10);
    for (;;) {
        for (pollfd& one : all) {
            if (one.fd >= 0 && (one.revents & (POLLHUP | POLLERR)) != 0) {
                close(one.fd);
                one.fd = -1;
            }
            if (one.fd < 0) {
                one.fd = connect_to(server);
                (void)!send(one.fd, requests.data(), requests.size(), 0);
            } else if ((one.revents & POLLIN) != 0) {
                if (recv(one.fd, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0)
                    (void)!send(one.fd, requests.data(), requests.size() / kRequests, MSG_DONTWAIT);
            }
            one.revents = 0;
        }
        poll(all.data(), all.size(), 100);
    }
}

double memory_mb(const Server& server) {
    std::ifstream status(fmt::format("/proc/{}/status", server.pid()));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    return 0;
}

// Connects and asks for the status of one job. Returns the time that this took, in milliseconds.
double one_status(const Server& server, const std::string& job) {
    setenv("PBS_HOME", server.home().c_str(), 1);
    const auto begin = Clock::now();
    const int handle = pbs_connect(nullptr);
    if (handle < 0) give_up("no connection");
    batch_status* status = pbs_statjob(handle, job.c_str(), nullptr, nullptr);
    if (status == nullptr) give_up("no status");
    pbs_statfree(status);
    pbs_disconnect(handle);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Runs a command again and again in a process of its own. Writes a byte to the descriptor `count` after each
// run.
[[noreturn]] void run_on_and_on(const Server& server, const std::vector<std::string>& command, int count) {
    pbs::e2e::RunOptions options;
    options.timeout = std::chrono::minutes(10);
    for (;;) {
        if (server.command(command, options).exit != 0) _exit(1);
        (void)!write(count, "", 1);
    }
}

void others_wait(benchmark::State& state, bool reads) {
    const auto server = make_server(state.range(0), false);
    const std::string job = "7";
    const double resting = memory_mb(*server);
    double most = resting;
    std::vector<double> waited;
    for (auto _ : state) {
        const pid_t hostile = fork();
        if (hostile == 0) attack(*server, reads);
        std::this_thread::sleep_for(std::chrono::seconds(1));
        for (const auto until = Clock::now() + std::chrono::seconds(state.range(1)); Clock::now() < until;) {
            waited.push_back(one_status(*server, job));
            most = std::max(most, memory_mb(*server));
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        kill(hostile, SIGKILL);
        waitpid(hostile, nullptr, 0);
    }
    std::this_thread::sleep_for(std::chrono::seconds(12));  // the server returns memory every ten seconds
    std::ranges::sort(waited);
    state.counters["requests"] = static_cast<double>(waited.size());
    state.counters["ms_50%"] = percentile(waited, 0.5);
    state.counters["ms_99%"] = percentile(waited, 0.99);
    state.counters["ms_most"] = percentile(waited, 1);
    state.counters["MB_resting"] = resting;
    state.counters["MB_most"] = most;
    state.counters["MB_after"] = memory_mb(*server);
}

void others_wait_beside(benchmark::State& state, const std::vector<std::string>& command) {
    const auto server = make_server(state.range(0), true);
    if (server->qmgr("set server scheduling=True").exit != 0) give_up("scheduling");
    // Wait until each job has its comment.
    const std::string all = fmt::format(": {} decisions", state.range(0));
    const auto over = [&] { return server->log().find(all) != std::string::npos; };
    if (!pbs::e2e::wait_for(over, std::chrono::minutes(10))) give_up("no cycle");
    const double resting = memory_mb(*server);
    double most = resting;
    std::vector<double> waited;
    std::size_t commands = 0;
    for (auto _ : state) {
        int count[2];
        if (pipe2(count, O_NONBLOCK) != 0) give_up("pipe");
        const pid_t busy = fork();
        if (busy == 0) run_on_and_on(*server, command, count[1]);
        for (const auto until = Clock::now() + std::chrono::seconds(state.range(1)); Clock::now() < until;) {
            waited.push_back(one_status(*server, "7"));
            most = std::max(most, memory_mb(*server));
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        std::vector<char> bytes(10'000);
        commands +=
            static_cast<std::size_t>(std::max<ssize_t>(0, read(count[0], bytes.data(), bytes.size())));
        kill(busy, SIGKILL);
        waitpid(busy, nullptr, 0);
        close(count[0]);
        close(count[1]);
    }
    if (commands == 0) give_up("the command failed, or took too long");
    std::ranges::sort(waited);
    state.counters["commands"] = static_cast<double>(commands);
    state.counters["requests"] = static_cast<double>(waited.size());
    state.counters["ms_50%"] = percentile(waited, 0.5);
    state.counters["ms_99%"] = percentile(waited, 0.99);
    state.counters["ms_most"] = percentile(waited, 1);
    state.counters["MB_resting"] = resting;
    state.counters["MB_most"] = most;
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->Args({1'000, 3})->Args({100'000, 40});
    benchmark->ArgNames({"jobs", "seconds"})->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

BENCHMARK_CAPTURE(others_wait, nothing_is_read, false)->Apply(sizes);
BENCHMARK_CAPTURE(others_wait, all_is_read, true)->Apply(sizes);

void sizes_beside(benchmark::internal::Benchmark* benchmark) {
    benchmark->Args({5'000, 5})->Args({100'000, 40})->Args({1'000'000, 120});
    benchmark->ArgNames({"jobs", "seconds"})->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

BENCHMARK_CAPTURE(others_wait_beside, explanations, {"pbs_explain", "7"})->Apply(sizes_beside);
BENCHMARK_CAPTURE(others_wait_beside, records, {"pbs_replay", "--record", "-o", "/dev/null"})
    ->Apply(sizes_beside);

}  // namespace

BENCHMARK_MAIN();
