// Measures how long clients of a running server wait while it schedules many jobs. The server and the plugin
// are those of this build. Only some hundred jobs are submitted. All others are copies of these, which are
// written into the database while the server is stopped.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tests/bench/server.h"
#include "tests/e2e/copy_jobs.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::cycles_in;
using pbs::bench::give_up;
using pbs::bench::percentile;
using pbs::bench::start_server;
using pbs::e2e::Server;
using Clock = std::chrono::steady_clock;

class Client {
  public:
    explicit Client(const Server& server) {
        setenv("PBS_HOME", server.home().c_str(), 1);
        handle_ = pbs_connect(nullptr);
        if (handle_ < 0) give_up(fmt::format("no connection: {}", pbs_geterrmsg(-1)));
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { pbs_disconnect(handle_); }

    void set(mgr_obj type, const char* name, std::string attribute, std::string value) const {
        attropl change{nullptr, attribute.data(), nullptr, value.data(), SET};
        check(pbs_manager(handle_, MGR_CMD_SET, type, name, &change, nullptr));
    }
    void stat_policy() const { check(pbs_statpolicy(handle_, nullptr, nullptr, nullptr)); }
    void stat_server() const { check(pbs_statserver(handle_, nullptr, nullptr)); }
    std::string submit(std::string ncpus, std::string walltime) const {
        static char list[] = "Resource_List";
        static char cpus[] = "ncpus";
        static char time[] = "walltime";
        static char variables[] = "Variable_List";
        static char folder[] = "PBS_O_WORKDIR=/tmp,PBS_O_HOME=/tmp";
        attropl third{nullptr, variables, nullptr, folder, SET};
        attropl second{&third, list, time, walltime.data(), SET};
        attropl first{&second, list, cpus, ncpus.data(), SET};
        char* id = pbs_submit(handle_, &first, script_.c_str(), "submit", nullptr);
        if (id == nullptr) give_up(fmt::format("submission: {}", pbs_geterrmsg(handle_)));
        std::string copy = id;
        std::free(id);
        return copy;
    }
    void remove(const std::string& id) const { check(pbs_deljob(handle_, id.c_str(), nullptr)); }
    void use_script(const std::string& path) { script_ = path; }

  private:
    void check(int code) const {
        if (code != 0) give_up(fmt::format("error {}: {}", code, pbs_geterrmsg(handle_)));
    }
    void check(batch_status* list) const {
        if (list == nullptr) give_up(fmt::format("status: {}", pbs_geterrmsg(handle_)));
        pbs_statfree(list);
    }
    int handle_ = -1;
    std::string script_;
};

// Starts a server with an Origin policy that uses past usage and prime time. At most four jobs run, so that
// the processes of jobs don't affect the measurement.
std::unique_ptr<Server> make_server(int64_t jobs) {
    auto server = start_server(std::chrono::minutes(10));  // the server reads all jobs at its start
    const auto configured = server->configure({
        "set server scheduling=False",
        "set server acl_roots+=root@*",
        "set server log_events=256",
        "create queue submit queue_type=execution,enabled=True,started=True",
        "create queue batch queue_type=execution,enabled=True,started=True,max_running=4",
        "set queue batch resources_max.ncpus=8,resources_max.walltime=12:00:00",
        ("create time_window office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',start_time=0800,end_time=1700,"
         "type=prime"),
        "set policy default_policy algorithm=origin,submit_queue=submit,batch_queues=batch",
        ("set policy default_policy sort_by_past_usage=True,enforce_prime_time=True,"
         "prime_time_wallt_limit=02:00:00,avoid_fragmentation=False"),
    });
    if (!configured) give_up(configured.message());
    const std::string script = server->work() / "job.sh";
    (void)pbs::e2e::run({"sh", "-c", "printf 'sleep 100000\\n' >" + script + "; chmod 644 " + script});
    constexpr int64_t kSubmitted = 300;
    {
        Client client(*server);
        client.use_script(script);
        for (int64_t i = 0; i < kSubmitted; ++i)
            client.submit(std::to_string(1 + i % 8), std::to_string(600 + i * 7919 % 42'000));
    }
    if (const auto stopped = server->stop(); !stopped) give_up(stopped.message());
    const auto copied = pbs::e2e::copy_jobs(*server, jobs / kSubmitted);
    if (!copied) give_up(copied.message());
    if (const auto started = server->start(); !started) give_up(started.message());
    return server;
}

// Sends a request each millisecond while a cycle over all jobs runs and its decisions are carried out. With
// `first`, measures the first cycle, which sets the comments of all jobs. A submission and a deletion
// together are four requests, and each may wait while the server carries out a slice of the decisions.
void during_a_cycle(benchmark::State& state, bool first) {
    const auto server = make_server(state.range(0));
    Client client(*server);
    client.use_script(server->work() / "job.sh");
    if (!first) {  // run a cycle beforehand, which sets the comments of all jobs
        const std::size_t before = cycles_in(*server);
        client.set(MGR_OBJ_SERVER, "", "scheduling", "True");
        if (!pbs::e2e::wait_for([&] { return cycles_in(*server) > before; }, std::chrono::hours(1)))
            give_up("the first cycle doesn't end");
        client.set(MGR_OBJ_SERVER, "", "scheduling", "False");
    }
    std::vector<double> waited;
    double most_of_one = 0;  // longest wait of an operation that is a single request
    for (auto _ : state) {
        const std::size_t before = cycles_in(*server);
        Clock::time_point looked = Clock::now();
        client.set(MGR_OBJ_SERVER, "", "scheduling", "True");
        for (int64_t i = 0;; ++i) {
            const auto begin = Clock::now();
            switch (i % 4) {
                case 0:
                    client.stat_policy();
                    break;
                case 1:
                    client.set(MGR_OBJ_POLICY, "default_policy", "comment", std::to_string(i));
                    break;
                case 2:
                    client.stat_server();
                    break;
                default:
                    client.remove(client.submit("1", "600"));
                    break;
            }
            const auto end = Clock::now();
            waited.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
            if (i % 4 != 3) most_of_one = std::max(most_of_one, waited.back());
            if (end - looked > std::chrono::milliseconds(200)) {
                looked = end;
                if (cycles_in(*server) > before) break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        state.PauseTiming();
        client.set(MGR_OBJ_SERVER, "", "scheduling", "False");
        state.ResumeTiming();
    }
    std::ranges::sort(waited);
    state.counters["requests"] = static_cast<double>(waited.size());
    state.counters["ms_50%"] = percentile(waited, 0.5);
    state.counters["ms_99%"] = percentile(waited, 0.99);
    state.counters["ms_most"] = percentile(waited, 1);
    state.counters["ms_most_of_one"] = most_of_one;
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (const int64_t jobs : {21'000, 300'000, 999'900}) benchmark->Arg(jobs);
    benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

BENCHMARK_CAPTURE(during_a_cycle, the_first, true)->Apply(sizes);
BENCHMARK_CAPTURE(during_a_cycle, a_later_one, false)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
