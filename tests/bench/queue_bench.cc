// Measures a server with many queued jobs.
//
// `submissions` measures the number of submissions per second over several connections. Each job is durable
// when its submission is acknowledged.
//
// `queued` measures the memory and the room in the database that a queued job takes; the times of the status
// of one job, of the status of all jobs, and of a restart; and the time of the first cycle, which sets a
// comment for each job.
//
// A connection sends the requests of a submission (QueueJob, JobScript, Commit) without waiting for their
// answers, and makes several submissions at a time. For `queued`, only some hundred jobs are submitted. All
// others are copies of these, which are written into the database while the server is stopped.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/bench/server.h"
#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::connect_to;
using pbs::bench::cycles_in;
using pbs::bench::give_up;
using pbs::bench::seconds_since;
using pbs::bench::start_server;
using pbs::e2e::Server;
using Clock = std::chrono::steady_clock;
namespace ifl = pbs::ifl;

std::unique_ptr<Server> make_server() {
    auto server = start_server(std::chrono::minutes(10));  // the server reads all jobs at its start
    const auto configured = server->configure({
        "set server scheduling=False",
        "set server acl_roots+=root@*",
        "create queue batch queue_type=execution,enabled=True,started=True",
        "set server default_queue=batch",
        "create node n1 resources_available.ncpus=1",
    });
    if (!configured) give_up(configured.message());
    return server;
}

double memory_kb(const Server& server) {
    std::ifstream status(fmt::format("/proc/{}/status", server.pid()));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr);
    return 0;
}

double bytes_of(const Server& server, const std::string& file) {
    struct stat info {};
    return stat((server.home() / file).c_str(), &info) == 0 ? static_cast<double>(info.st_size) : 0;
}

// ---- Submissions ----

// Returns the requests that qsub sends for a user's small job. All these jobs have the same environment and
// different names.
std::string submission(int64_t number) {
    const auto one = [](const char* name, std::string value, const char* resource = "") {
        return ifl::Attribute{.name = name, .resource = resource, .value = std::move(value)};
    };
    ifl::QueueJob job;
    job.attributes = {
        one("Job_Name", fmt::format("step{}", number)),
        one("Resource_List", "2", "ncpus"),
        one("Resource_List", fmt::format("{}", 600 + number * 7919 % 42'000), "walltime"),
        one("Variable_List",
            "PBS_O_HOME=/home/user,PBS_O_LANG=en_US.UTF-8,PBS_O_LOGNAME=user,"
            "PBS_O_PATH=/home/user/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games,"
            "PBS_O_MAIL=/var/mail/user,PBS_O_SHELL=/bin/bash,PBS_O_WORKDIR=/home/user/project/run,"
            "PBS_O_SYSTEM=Linux"),
        one("Submit_arguments", "-l ncpus=2 job.sh"),
    };
    return ifl::request_packet({ifl::RequestType::queue_job, "user", std::move(job), ""}) +
           ifl::request_packet({ifl::RequestType::job_script, "user",
                                ifl::JobScript{0, 0, "", "#!/bin/sh\ncd project/run\n./step\n"}, ""}) +
           ifl::request_packet({ifl::RequestType::commit, "user", ifl::JobId{""}, ""});
}
constexpr int kReplies = 3;

// Submits `jobs` jobs, numbered from `first`. Up to `ahead` submissions are unanswered at a time.
void submit(const Server& server, int64_t first, int64_t jobs, int64_t ahead) {
    const int fd = connect_to(server);
    if (fd < 0) give_up("no connection");
    ifl::ReplyDecoder replies;
    std::vector<char> bytes(size_t{64} << 10);
    int64_t sent = 0;
    int64_t answers = 0;
    while (answers < jobs * kReplies) {
        // Send half of `ahead` submissions at a time, as a program that fills a buffer does.
        if (sent < jobs && sent - answers / kReplies <= ahead / 2) {
            std::string out;
            for (const int64_t until = std::min(jobs, answers / kReplies + ahead); sent < until; ++sent)
                out += submission(first + sent);
            for (size_t at = 0; at < out.size();) {
                const ssize_t n = send(fd, out.data() + at, out.size() - at, MSG_NOSIGNAL);
                if (n <= 0) give_up("the server ended a connection");
                at += static_cast<size_t>(n);
            }
        }
        const ssize_t n = recv(fd, bytes.data(), bytes.size(), 0);
        if (n <= 0) give_up("the server ended a connection");
        replies.feed({bytes.data(), static_cast<size_t>(n)});
        for (auto next = replies.next(); !std::holds_alternative<ifl::ReplyDecoder::NeedMore>(next);
             next = replies.next()) {
            const auto* reply = std::get_if<ifl::Reply>(&next);
            if (reply == nullptr || reply->code != 0) give_up("a submission was refused");
            ++answers;
        }
    }
    close(fd);
}

void submissions(benchmark::State& state) {
    const auto server = make_server();
    const int64_t connections = state.range(0);
    const int64_t each = state.range(1) / connections;
    const double before = memory_kb(*server);
    double seconds = 0;
    for (auto _ : state) {
        const auto begin = Clock::now();
        std::vector<std::jthread> clients;
        for (int64_t i = 0; i < connections; ++i)
            clients.emplace_back([&, i] { submit(*server, i * each, each, state.range(2)); });
        clients.clear();
        seconds = seconds_since(begin);
    }
    const auto jobs = static_cast<double>(connections * each);
    state.counters["per_s"] = jobs / seconds;
    state.counters["kB_a_job"] = (memory_kb(*server) - before) / jobs;
}
BENCHMARK(submissions)
    ->ArgNames({"connections", "jobs", "ahead"})
    ->Args({1, 500, 1})
    ->Args({8, 4'000, 1})
    ->Args({8, 4'000, 64})
    ->Args({1, 20'000, 64})
    ->Args({8, 40'000, 64})
    ->Args({64, 40'000, 16})
    ->Args({8, 1'000'000, 64})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

// ---- Queued jobs ----

// Runs a cycle, and asks for the server's status again and again during it. Returns the longest wait in
// milliseconds. Sets `cycle_seconds` to the time until the decisions are carried out.
double longest_wait_of_a_cycle(const Server& server, int handle, double& cycle_seconds) {
    attropl on{nullptr, const_cast<char*>("scheduling"), nullptr, const_cast<char*>("True"), SET};
    const std::size_t before = cycles_in(server);
    const auto begin = Clock::now();
    if (pbs_manager(handle, MGR_CMD_SET, MGR_OBJ_SERVER, "", &on, nullptr) != 0) give_up("scheduling");
    double longest = 0;
    for (auto looked = begin;;) {
        const auto asked = Clock::now();
        batch_status* const status = pbs_statserver(handle, nullptr, nullptr);
        if (status == nullptr) give_up("no status of the server");
        pbs_statfree(status);
        longest = std::max(longest, seconds_since(asked) * 1e3);
        if (seconds_since(looked) > 0.1) {
            looked = Clock::now();
            if (cycles_in(server) > before) break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    cycle_seconds = seconds_since(begin);
    return longest;
}

void restart(Server& server) {
    if (const auto stopped = server.stop(); !stopped) give_up(stopped.message());
    if (const auto started = server.start(); !started) give_up(started.message());
}

void queued(benchmark::State& state) {
    constexpr int64_t kSubmitted = 500;
    const auto jobs = static_cast<double>(state.range(0));
    for (auto _ : state) {
        const auto server = make_server();
        setenv("PBS_HOME", server->home().c_str(), 1);
        submit(*server, 0, kSubmitted, 64);
        restart(*server);
        const double resting = memory_kb(*server);
        if (const auto stopped = server->stop(); !stopped) give_up(stopped.message());
        const auto copied = pbs::e2e::copy_jobs(*server, state.range(0) / kSubmitted);
        if (!copied) give_up(copied.message());
        if (const auto started = server->start(); !started) give_up(started.message());
        // The first restart writes missing accounting records. So measure the second one.
        if (const auto stopped = server->stop(); !stopped) give_up(stopped.message());
        const auto begin = Clock::now();
        if (const auto started = server->start(); !started) give_up(started.message());
        state.counters["restart_s"] = seconds_since(begin);
        state.counters["B_a_job"] = (memory_kb(*server) - resting) * 1024 / (jobs - kSubmitted);
        const int handle = pbs_connect(nullptr);
        if (handle < 0) give_up("no connection");
        const auto ask_one = [&] {
            const auto asked = Clock::now();
            batch_status* const one = pbs_statjob(handle, "77", nullptr, nullptr);
            if (one == nullptr) give_up("no status of a job");
            pbs_statfree(one);
            return seconds_since(asked) * 1e3;
        };
        std::vector<double> waited;
        for (int i = 0; i < 200; ++i) waited.push_back(ask_one());
        std::ranges::sort(waited);
        state.counters["one_ms_50%"] = waited[waited.size() / 2];
        state.counters["one_ms_99%"] = waited[waited.size() * 99 / 100];
        const auto all = Clock::now();
        const auto listed = server->command({"sh", "-c", pbs::e2e::program("qstat").string() + " >/dev/null"},
                                            {.timeout = std::chrono::minutes(10)});
        if (listed.exit != 0) give_up("qstat");
        state.counters["qstat_s"] = seconds_since(all);
        double cycle_seconds = 0;
        state.counters["cycle_ms_most"] = longest_wait_of_a_cycle(*server, handle, cycle_seconds);
        state.counters["cycle_s"] = cycle_seconds;
        state.counters["B_a_job_after"] = (memory_kb(*server) - resting) * 1024 / (jobs - kSubmitted);
        pbs_disconnect(handle);
        if (const auto stopped = server->stop(); !stopped) give_up(stopped.message());
        state.counters["db_B_a_job"] = bytes_of(*server, "server_priv/server.db") / jobs;
    }
}
BENCHMARK(queued)
    ->ArgName("jobs")
    ->Arg(2'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
