// Compares pbs_sched and the plugin in an OpenPBS server, in turn on the same machine, with a tenth as many
// vnodes of 32 CPUs as queued jobs.
//
// Figures, by the server's log: the time from `scheduling = True` until the last job is started, and until
// the scheduler has nothing more to say; the time until a new job that can't start has its comment; the waits
// of others for the server's status meanwhile; and the memory of the server's process. Runs where
// PBSPOLICY_OPENPBS_PREFIX names an OpenPBS.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tests/bench/server.h"
#include "tests/openpbs/site.h"

namespace {

using pbs::bench::give_up;
using pbs::e2e::number_of;
using pbs::e2e::Site;
using Clock = std::chrono::steady_clock;

// ---- The program's part inside the box.

int submit(int jobs, int ncpus) {
    const int handle = pbs_connect(nullptr);
    if (handle < 0) return 1;
    for (int i = 0; i < jobs; ++i) {
        std::string walltime = std::to_string(3600 + i * 7919 % 40000);
        std::string select = fmt::format("1:ncpus={}", ncpus != 0 ? ncpus : 8 + i * 31 % 17);
        std::string list = "Resource_List";
        std::string output = "Output_Path";
        std::string error = "Error_Path";
        std::string nowhere = "/dev/null";
        std::string names[] = {"walltime", "select"};
        attropl fourth{nullptr, error.data(), nullptr, nowhere.data(), SET};
        attropl third{&fourth, output.data(), nullptr, nowhere.data(), SET};
        attropl second{&third, list.data(), names[0].data(), walltime.data(), SET};
        attropl first{&second, list.data(), names[1].data(), select.data(), SET};
        char* id = pbs_submit(handle, &first, "/var/spool/pbs/job.sh", nullptr, nullptr);
        if (id == nullptr) {
            std::cerr << pbs_geterrmsg(handle) << '\n';
            return 1;
        }
        std::free(id);
    }
    return pbs_disconnect(handle);
}

// Prints the time of the slowest request in milliseconds.
int ask(int seconds) {
    const int handle = pbs_connect(nullptr);
    if (handle < 0) return 1;
    double longest = 0;
    for (const auto until = Clock::now() + std::chrono::seconds(seconds); Clock::now() < until;) {
        const auto begin = Clock::now();
        pbs_statfree(pbs_statserver(handle, nullptr, nullptr));
        longest = std::max(longest, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::cout << longest << '\n';
    return pbs_disconnect(handle);
}

// ---- The site.

std::string self() {
    return std::filesystem::canonical("/proc/self/exe").string();
}

void make(const Site& site, int vnodes, const std::string& scheduler) {
    site.ok("echo PBS_LOG_HIGHRES_TIMESTAMP=1 >> /etc/pbs.conf");
    site.ok(
        "printf '#!/bin/sh\\nexec sleep 100000\\n' > /var/spool/pbs/job.sh && chmod 755 "
        "/var/spool/pbs/job.sh");
    if (scheduler.empty()) {
        site.start();
    } else {
        site.install(scheduler);
        site.start_with_plugin();
    }
    if (!site.wait_for_node()) give_up("mom is not there");
    site.ok(
        fmt::format("{{ echo '$configversion 2'; for i in $(seq 0 {}); do "
                    "echo \"box[$i]: resources_available.ncpus = 32\"; done; "
                    "echo 'box: resources_available.ncpus = 0'; }} > /tmp/vnodes && "
                    "$(dirname $stock)/sbin/pbs_mom -s insert vnodes /tmp/vnodes && "
                    "kill -HUP $(cat /var/spool/pbs/mom_priv/mom.lock)",
                    vnodes - 1));
    const auto all_free = [&] {
        const std::string counted = site.sh("$stock/pbsnodes -avS | grep -c '^box.*free'").out;
        return number_of(counted) > vnodes;
    };
    if (!pbs::e2e::wait_for(all_free, std::chrono::seconds(60))) give_up("the vnodes are not there");
    site.ok("$stock/qmgr -c 'set server scheduling = False'");
}

// ---- The server's log.

struct Request {
    double at = 0;  // seconds of the day
    int type = 0;
};

double seconds_of(const std::string& line) {
    if (line.size() < 26) return 0;  // a line begins with 11/27/2026 04:23:18.246348;
    return number_of(line.substr(11, 2)) * 3600 + number_of(line.substr(14, 2)) * 60 +
           std::strtod(line.c_str() + 17, nullptr);
}

// Returns the scheduler's requests since this time.
std::vector<Request> requests_since(const Site& site, double since) {
    std::vector<Request> requests;
    std::istringstream lines(
        site.ok("cat /var/spool/pbs/server_logs/* | grep 'request received from Scheduler' || true"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t type = line.find("Type ");
        if (type == std::string::npos || seconds_of(line) < since) continue;
        requests.push_back({seconds_of(line), number_of(line.substr(type + 5))});
    }
    return requests;
}

bool starts_a_job(const Request& request) {
    return request.type == 15 || request.type == 23 || request.type == 97;
}
bool tells_of_a_job(const Request& request) {
    return request.type == 11 || request.type == 96;
}

double last_line(const Site& site, const std::string& text) {
    return seconds_of(site.ok("cat /var/spool/pbs/server_logs/* | grep '" + text + "' | tail -n 1"));
}

// ---- Measurements.

// Sets a vnode offline, so that all comments change, and a moment later ends a job, so that another can
// start. Returns the median time from end to start in milliseconds. `most`: seconds for which comments are
// sent.
double start_beside_comments(const Site& site, int most) {
    std::vector<double> waited;
    for (int i = 1; i <= 5; ++i) {
        site.ok(
            fmt::format("$stock/qmgr -c 'set node box[{}] state = offline'; sleep 0.5; "
                        "$stock/qdel -W force $($stock/qselect -s R | sed -n {}p)",
                        i, 10 * i));
        const double ended = last_line(site, "to be deleted at request of root");
        std::this_thread::sleep_for(std::chrono::seconds(most));
        const auto requests = requests_since(site, ended);
        const auto start = std::ranges::find_if(requests, starts_a_job);
        if (start != requests.end()) waited.push_back((start->at - ended) * 1e3);
    }
    std::ranges::sort(waited);
    return waited.empty() ? -1 : waited[waited.size() / 2];
}

void cycle(benchmark::State& state, const std::string& scheduler) {
    if (const std::string why = pbs::e2e::no_openpbs(); !why.empty()) {
        state.SkipWithError(why.c_str());
        return;
    }
    const auto jobs = static_cast<int>(state.range(0));
    const Site site;
    make(site, jobs / 10, scheduler);
    site.ok(fmt::format("{} submit {} 0", self(), jobs), "una");
    double longest = 0;
    for (auto _ : state) {
        site.ok("$stock/qmgr -c 'set server scheduling = True'");
        const double begin = last_line(site, "Type 9 request received from root");
        // Wait until no request has come for a while.
        std::vector<Request> requests;
        for (std::size_t before = ~std::size_t{0}; before != requests.size() || requests.empty();) {
            before = requests.size();
            longest = std::max(longest, std::strtod(site.ok(self() + " ask 5").c_str(), nullptr));
            requests = requests_since(site, begin);
            std::erase_if(requests,
                          [](const Request& one) { return !starts_a_job(one) && !tells_of_a_job(one); });
        }
        const auto started = std::ranges::count_if(requests, starts_a_job);
        const auto last = std::find_if(requests.rbegin(), requests.rend(), starts_a_job);
        state.counters["started"] = static_cast<double>(started);
        state.counters["last_start_s"] = last == requests.rend() ? 0 : last->at - begin;
        state.counters["all_s"] = requests.back().at - begin;
    }
    std::vector<double> waited;
    for (int i = 0; i < 5; ++i) {
        site.ok(self() + " submit 1 32", "una");
        std::this_thread::sleep_for(std::chrono::seconds(jobs > 1000 && scheduler.empty() ? 30 : 3));
        const double queued = last_line(site, "Job Queued at request of");
        const auto requests = requests_since(site, queued);
        const auto told = std::ranges::find_if(requests, tells_of_a_job);
        if (told != requests.end()) waited.push_back((told->at - queued) * 1e3);
    }
    std::ranges::sort(waited);
    if (waited.empty()) give_up("no comment comes");
    state.counters["one_more_ms"] = waited[waited.size() / 2];
    state.counters["longest_ask_ms"] = longest;
    state.counters["start_beside_comments_ms"] = start_beside_comments(site, scheduler.empty() ? 60 : 10);
    state.counters["server_MB"] =
        std::strtod(site.ok("ps -o rss= -C pbs_server.bin").c_str(), nullptr) / 1024;
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->Arg(1000)->Arg(10'000)->ArgName("jobs");
    benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}
BENCHMARK_CAPTURE(cycle, pbs_sched, "")->Apply(sizes);
BENCHMARK_CAPTURE(cycle, inside, "--scheduler")->Apply(sizes);
BENCHMARK_CAPTURE(cycle, beside, "--beside --scheduler")->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "submit") return submit(number_of(argv[2]), argc > 3 ? number_of(argv[3]) : 0);
    if (what == "ask") return ask(number_of(argv[2]));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
