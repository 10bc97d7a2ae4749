// Compares three schedulers of an OpenPBS server: pbs_sched, the plugin inside the server, and the plugin
// beside it. They run in turn on the same machine, with a tenth as many vnodes of 32 CPUs as queued jobs.
//
// Most results are taken from the server's log. They are: the time from `scheduling = True` until the last
// job is started, and until the scheduler's last request; the time until a new job that can't start has its
// comment, and from the end of a job until another one starts; how long another client waits for the server's
// status meanwhile; and the memory of the processes of server and scheduler. PBSPOLICY_OPENPBS_PREFIX names
// the OpenPBS; without it the benchmark is skipped.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
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

// ---- The benchmark also runs itself inside the box (tests/e2e/box.h), to submit jobs and to ask the server.

// Submits `jobs` jobs, each with `chunks` chunks of `ncpus` CPUs. If `ncpus` is 0, the number of CPUs varies.
int submit(int jobs, int chunks, int ncpus) {
    const int handle = pbs_connect(nullptr);
    if (handle < 0) return 1;
    for (int i = 0; i < jobs; ++i) {
        std::string walltime = std::to_string(3600 + i * 7919 % 40000);
        // A job with several chunks has at least 17 CPUs in each, so that no two fit on a vnode of 32.
        const int varied = chunks > 1 ? 17 + i * 31 % 16 : 8 + i * 31 % 17;
        std::string select = fmt::format("{}:ncpus={}", chunks, ncpus != 0 ? ncpus : varied);
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

// A client that decides nothing: takes the waiting jobs in their order, gives each to the first vnode with
// room for its CPUs, and requests all these starts, one after the other, as pbs_sched does. The places are
// found before the first request.
int start_all(int vnodes) {
    const int handle = pbs_connect(nullptr);
    if (handle < 0) return 1;
    std::vector<int> room(static_cast<std::size_t>(vnodes), 32);
    std::vector<std::pair<std::string, std::string>> starts;
    batch_status* const jobs = pbs_statjob(handle, nullptr, nullptr, nullptr);
    for (const batch_status* job = jobs; job != nullptr; job = job->next)
        for (const attrl* one = job->attribs; one != nullptr; one = one->next) {
            if (one->name != std::string("Resource_List") || one->resource != std::string("ncpus")) continue;
            const int ncpus = number_of(one->value);
            const auto vnode = std::ranges::find_if(room, [&](int left) { return left >= ncpus; });
            if (vnode == room.end()) continue;
            *vnode -= ncpus;
            starts.emplace_back(job->name, fmt::format("(box[{}]:ncpus={})", vnode - room.begin(), ncpus));
        }
    pbs_statfree(jobs);
    for (const auto& [job, place] : starts)
        if (pbs_asyrunjob(handle, job.c_str(), place.c_str(), nullptr) != 0) {
            std::cerr << job << ": " << pbs_geterrmsg(handle) << '\n';
            return 1;
        }
    return pbs_disconnect(handle);
}

// Asks for the server's status for this number of seconds. Prints the longest wait in milliseconds.
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

// ---- The site that is measured: its vnodes, jobs and schedulers.

constexpr const char* kOnlyStarts = "only_starts";  // in place of a scheduler: start_all()
constexpr int kSubmittedAtOnce = 5000;              // a script in the box may run for two minutes at most
constexpr std::chrono::seconds kPatience{1200};     // time limit of a cycle

std::string self() {
    return std::filesystem::canonical("/proc/self/exe").string();
}

struct Size {
    int jobs = 0;
    int vnodes = 0;
    int moms = 1;
    int chunks = 1;  // number of chunks of each job
};

// One machine can't run 20,000 jobs at once. So at the largest size, the jobs have ten chunks, each on a
// vnode of its own, and there are four moms.
Size size_of(int jobs) {
    if (jobs == 5000) return {jobs, 200};  // few of many jobs start
    if (jobs < 100'000) return {jobs, jobs / 10};
    return {jobs, jobs / 10, 4, 10};
}

// Returns the name of a vnode. The vnodes of a mom are named NAME[0], NAME[1] and so on.
std::string vnode(const Size& size, int number) {
    return size.moms == 1 ? fmt::format("box[{}]", number)
                          : fmt::format("v{}[{}]", number % size.moms, number / size.moms);
}

void make_vnodes(const Site& site, const Size& size) {
    std::vector<std::string> names;
    for (int i = 0; i < size.moms && size.moms > 1; ++i) names.push_back(fmt::format("v{}", i));
    if (!names.empty()) site.add_moms(names);
    if (names.empty()) names.emplace_back("box");
    for (const std::string& name : names) {
        const std::string home = "/var/spool/pbs/" + (name == "box" ? std::string() : name + "/");
        site.ok(fmt::format(
            "mkdir -p {0}mom_priv/config.d; {{ echo '$configversion 2'; for i in $(seq 0 {2}); do "
            "echo \"{1}[$i]: resources_available.ncpus = 32\"; done; "
            "echo '{1}: resources_available.ncpus = 0'; }} > {0}mom_priv/config.d/vnodes && "
            "kill -HUP $(cat {0}mom_priv/mom.lock)",
            home, name, size.vnodes / size.moms - 1));
    }
    const auto all_free = [&] {
        return number_of(site.sh("$stock/pbsnodes -avS | grep -c '\\].*free'").out) == size.vnodes;
    };
    if (!pbs::e2e::wait_for(all_free, std::chrono::seconds(300))) give_up("the vnodes are not there");
}

void make(const Site& site, const Size& size, const std::string& scheduler) {
    site.ok("echo PBS_LOG_HIGHRES_TIMESTAMP=1 >> /etc/pbs.conf");
    site.ok(
        "printf '#!/bin/sh\\nexec sleep 100000\\n' > /var/spool/pbs/job.sh && chmod 755 "
        "/var/spool/pbs/job.sh");
    if (scheduler.empty() || scheduler == kOnlyStarts) {
        site.start();
    } else {
        site.install(scheduler);
        site.start_with_plugin();
    }
    if (!site.wait_for_node()) give_up("mom is not there");
    make_vnodes(site, size);
    site.ok("$stock/qmgr -c 'set server scheduling = False'");
    for (int left = size.jobs; left > 0; left -= kSubmittedAtOnce)
        site.ok(fmt::format("{} submit {} {} 0", self(), std::min(left, kSubmittedAtOnce), size.chunks),
                "una");
}

// ---- Times of the scheduler's requests, from the server's log.

struct Request {
    double at = 0;  // time of the request, in seconds of the day
    int type = 0;
};

double seconds_of(const std::string& line) {
    if (line.size() < 26) return 0;  // a line begins with 11/27/2026 04:23:18.246348;
    return number_of(line.substr(11, 2)) * 3600 + number_of(line.substr(14, 2)) * 60 +
           std::strtod(line.c_str() + 17, nullptr);
}

// Returns the requests of the scheduler and of root since a time, given in seconds of the day.
std::vector<Request> requests_since(const Site& site, double since) {
    std::vector<Request> requests;
    std::istringstream lines(site.ok(
        "cat /var/spool/pbs/server_logs/* | grep -E 'request received from (Scheduler|root)' || true"));
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

double first_start(const Site& site) {
    const auto requests = requests_since(site, 0);
    const auto first = std::ranges::find_if(requests, starts_a_job);
    if (first == requests.end()) give_up("no job was started");
    return first->at;
}

// ---- Measurements.

double memory_MB(const Site& site, const std::string& programs) {
    return std::strtod(
               site.ok("ps -o rss= -C " + programs + " | awk '{ kB += $1 } END { print kB + 0 }'").c_str(),
               nullptr) /
           1024;
}

// Waits until the scheduler has made no request about jobs for `seconds`. Returns its requests about jobs
// since the time `since`, in seconds of the day. Raises `longest` to the longest wait of another client
// during this time, in milliseconds.
std::vector<Request> requests_until_quiet(const Site& site, double since, int seconds, double& longest) {
    std::vector<Request> requests;
    for (std::size_t before = ~std::size_t{0}; before != requests.size() || requests.empty();) {
        before = requests.size();
        longest = std::max(longest,
                           std::strtod(site.ok(fmt::format("{} ask {}", self(), seconds)).c_str(), nullptr));
        requests = requests_since(site, since);
        std::erase_if(requests,
                      [](const Request& one) { return !starts_a_job(one) && !tells_of_a_job(one); });
    }
    return requests;
}

// Calls act() five times, each time when the scheduler is idle. Measures the time from the last line with
// `text` in the server's log until the scheduler's next request for which kind() is true. Returns the median
// in milliseconds.
double time_to(const Site& site, bool (*kind)(const Request&), const std::string& text,
               const std::function<void(int)>& act) {
    using std::chrono::seconds;
    const auto idle = [&] {
        std::this_thread::sleep_for(seconds(1));
        return site.sh("$stock/qmgr -c 'list sched default' | grep -q 'state = idle'").exit == 0;
    };
    std::vector<double> waited;
    for (int i = 0; i < 5; ++i) {
        if (!pbs::e2e::wait_for(idle, kPatience)) give_up("the scheduler isn't idle");
        act(i);
        const double since = last_line(site, text);
        const auto came = [&] {
            std::this_thread::sleep_for(seconds(1));
            const auto requests = requests_since(site, since);
            const auto found = std::ranges::find_if(requests, kind);
            if (found == requests.end()) return false;
            waited.push_back((found->at - since) * 1e3);
            return true;
        };
        if (!pbs::e2e::wait_for(came, kPatience)) give_up("the scheduler does nothing after: " + text);
    }
    std::ranges::sort(waited);
    return waited[waited.size() / 2];
}

void cycle(benchmark::State& state, const std::string& scheduler) {
    if (const std::string why = pbs::e2e::no_openpbs(); !why.empty()) {
        state.SkipWithError(why.c_str());
        return;
    }
    const Size size = size_of(static_cast<int>(state.range(0)));
    const Site site;
    make(site, size, scheduler);
    state.counters["server_before_MB"] = memory_MB(site, "pbs_server.bin");
    double longest = 0;
    for (auto _ : state) {
        double begin = 0;  // for kOnlyStarts, the first start: the places were found before
        if (scheduler == kOnlyStarts) {
            site.ok(fmt::format("{} start_all {}", self(), size.vnodes));
            begin = first_start(site);
        } else {
            site.ok("$stock/qmgr -c 'set server scheduling = True'");
            begin = last_line(site, "Type 9 request received from root");
        }
        const auto requests = requests_until_quiet(site, begin, size.jobs < 100'000 ? 5 : 20, longest);
        const auto started = std::ranges::count_if(requests, starts_a_job);
        const auto last = std::find_if(requests.rbegin(), requests.rend(), starts_a_job);
        state.counters["started"] = static_cast<double>(started);
        const auto first = std::ranges::find_if(requests, starts_a_job);
        state.counters["first_start_s"] = first == requests.end() ? 0 : first->at - begin;
        state.counters["last_start_s"] = last == requests.rend() ? 0 : last->at - begin;
        state.counters["all_s"] = requests.back().at - begin;
    }
    state.counters["longest_ask_ms"] = longest;
    if (scheduler == kOnlyStarts) return;
    state.counters["server_MB"] = memory_MB(site, "pbs_server.bin");
    state.counters["scheduler_MB"] = memory_MB(site, "pbs_sched,pbs_policyd");
    state.counters["one_more_ms"] = time_to(site, tells_of_a_job, "Job Queued at request of", [&](int) {
        site.ok(fmt::format("{} submit 1 {} 32", self(), size.chunks), "una");
    });
    const std::string end = "$stock/qdel -W force $($stock/qselect -s R | sed -n {}p)";
    state.counters["start_after_end_ms"] =
        time_to(site, starts_a_job, "to be deleted at request of root",
                [&](int i) { site.ok(fmt::format(fmt::runtime(end), 10 * i + 5)); });
    // A vnode goes offline, which changes the comments of all jobs. Half a second later a job ends.
    state.counters["start_beside_comments_ms"] =
        time_to(site, starts_a_job, "to be deleted at request of root", [&](int i) {
            site.ok(fmt::format("$stock/qmgr -c 'set node {} state = offline'; sleep 0.5; {}",
                                vnode(size, i + 1), fmt::format(fmt::runtime(end), 10 * i + 10)));
        });
}

void most_sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->Arg(1000)->Arg(5000)->Arg(10'000)->ArgName("jobs");
    benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}
void sizes(benchmark::internal::Benchmark* benchmark) {
    most_sizes(benchmark);
    benchmark->Arg(100'000);
}
BENCHMARK_CAPTURE(cycle, pbs_sched, "")->Apply(sizes);
BENCHMARK_CAPTURE(cycle, inside, "--scheduler")->Apply(sizes);
BENCHMARK_CAPTURE(cycle, only_starts, kOnlyStarts)->Apply(most_sizes);
BENCHMARK_CAPTURE(cycle, beside, "--beside --scheduler")->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "submit" && argc > 4)
        return submit(number_of(argv[2]), number_of(argv[3]), number_of(argv[4]));
    if (what == "start_all" && argc > 2) return start_all(number_of(argv[2]));
    if (what == "ask") return ask(number_of(argv[2]));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
