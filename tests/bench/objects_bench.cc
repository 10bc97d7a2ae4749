// Measures how fast a running server changes and shows policy objects, as seen by a client. The server and
// the commands are those of this build. Each change is durable when it is acknowledged.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tests/bench/server.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::give_up;
using pbs::bench::start_server;
using pbs::e2e::Server;

enum class Way { socket, tcp };

// A manager's connection to a server, by its local socket or by TCP.
class Client {
  public:
    Client(const Server& server, Way way) {
        // The client library looks for the server's socket in PBS_HOME when it makes a connection.
        setenv("PBS_HOME", way == Way::socket ? server.home().c_str() : "/nonexistent", 1);
        const std::string address = fmt::format("localhost:{}", server.port());
        handle_ = pbs_connect(way == Way::socket ? nullptr : address.c_str());
        if (handle_ < 0) give_up(fmt::format("no connection: {}", pbs_geterrmsg(-1)));
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { pbs_disconnect(handle_); }

    void create(const std::string& name) const {
        check(pbs_manager(handle_, MGR_CMD_CREATE, MGR_OBJ_POLICY, name.c_str(), nullptr, nullptr));
    }
    void set(const std::string& name, std::string comment) const {
        attropl change = comment_of(comment);
        check(pbs_manager(handle_, MGR_CMD_SET, MGR_OBJ_POLICY, name.c_str(), &change, nullptr));
    }
    void send_create(const std::string& name) const {
        check(pbs_manager_send(handle_, MGR_CMD_CREATE, MGR_OBJ_POLICY, name.c_str(), nullptr, nullptr));
    }
    void send_set(const std::string& name, std::string comment) const {
        attropl change = comment_of(comment);
        check(pbs_manager_send(handle_, MGR_CMD_SET, MGR_OBJ_POLICY, name.c_str(), &change, nullptr));
    }
    void receive() const { check(pbs_manager_reply(handle_)); }
    std::size_t stat(mgr_obj type) const {
        batch_status* list = type == MGR_OBJ_POLICY ? pbs_statpolicy(handle_, nullptr, nullptr, nullptr)
                                                    : pbs_stattimewindow(handle_, nullptr, nullptr, nullptr);
        std::size_t count = 0;
        for (const batch_status* one = list; one != nullptr; one = one->next) ++count;
        pbs_statfree(list);
        return count;
    }

  private:
    static attropl comment_of(std::string& comment) {
        static char name[] = "comment";
        return {nullptr, name, nullptr, comment.data(), SET};
    }
    void check(int code) const {
        if (code != 0) give_up(fmt::format("error {}: {}", code, pbs_geterrmsg(handle_)));
    }
    int handle_;
};

// Creates policies p0, p1, ... and time_windows t0, t1, .... default_policy isn't included in the number
// `policies`.
void fill(const Server& server, int64_t policies, int64_t windows = 0) {
    std::string input;
    for (int64_t i = 0; i < policies; ++i) input += fmt::format("create policy p{}\n", i);
    for (int64_t i = 0; i < windows; ++i) {
        input += fmt::format(
            "create time_window t{} rrule='FREQ=WEEKLY;BYDAY=MO,TU', start_time=0800, "
            "end_time=1700, comment=window{}\n",
            i, i);
    }
    const auto done = server.command({"qmgr"}, {.input = input, .timeout = std::chrono::seconds(600)});
    if (done.exit != 0) give_up("the objects could not be made: " + done.err);
}

constexpr int64_t kNames = 1000;  // number of policies, which are changed in turn
constexpr std::size_t kWindow = 1024;

// Sends `count` requests without waiting for each answer: up to kWindow requests are unanswered.
template <class Send>
void send_ahead(const Client& client, int64_t count, Send send) {
    int64_t answered = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (static_cast<std::size_t>(i - answered) >= kWindow) {
            client.receive();
            ++answered;
        }
        send(i);
    }
    for (; answered < count; ++answered) client.receive();
}

void create_ahead(benchmark::State& state, Way way) {
    const auto server = start_server();
    const Client client(*server, way);
    constexpr int64_t kBatch = 10'000;
    int64_t made = 0;
    for (auto _ : state) {
        send_ahead(client, kBatch, [&](int64_t) { client.send_create(fmt::format("c{}", made++)); });
    }
    state.SetItemsProcessed(made);
}

void set_ahead(benchmark::State& state, Way way) {
    const auto server = start_server();
    fill(*server, state.range(0));
    const Client client(*server, way);
    constexpr int64_t kBatch = 10'000;
    int64_t set = 0;
    for (auto _ : state) {
        send_ahead(client, kBatch, [&](int64_t) {
            client.send_set(fmt::format("p{}", set % state.range(0)), fmt::format("comment {}", set));
            ++set;
        });
    }
    state.SetItemsProcessed(set);
}

// Measures a whole qmgr command that reads directives from its standard input.
void directives(benchmark::State& state, bool create) {
    const auto server = start_server();
    if (!create) fill(*server, kNames);
    constexpr int64_t kDirectives = 10'000;
    int64_t done = 0;
    for (auto _ : state) {
        state.PauseTiming();
        std::string input;
        for (int64_t i = 0; i < kDirectives; ++i, ++done)
            input += create ? fmt::format("create policy c{}\n", done)
                            : fmt::format("set policy p{} comment=\"comment {}\"\n", done % kNames, done);
        state.ResumeTiming();
        const auto end = server->command({"qmgr"}, {.input = input, .timeout = std::chrono::seconds(600)});
        if (end.exit != 0) give_up("qmgr: " + end.err);
    }
    state.SetItemsProcessed(done);
}

void create_one_by_one(benchmark::State& state, Way way) {
    const auto server = start_server();
    const Client client(*server, way);
    int64_t made = 0;
    for (auto _ : state) client.create(fmt::format("c{}", made++));
    state.SetItemsProcessed(made);
}

void set_one_by_one(benchmark::State& state, Way way) {
    const auto server = start_server();
    fill(*server, state.range(0));
    const Client client(*server, way);
    int64_t set = 0;
    for (auto _ : state) {
        client.set(fmt::format("p{}", set % state.range(0)), fmt::format("comment {}", set));
        ++set;
    }
    state.SetItemsProcessed(set);
}

// Measures 16 clients, each of which waits for the answer to its request before it sends the next.
void many_clients(benchmark::State& state, Way way, bool create) {
    constexpr int kClients = 16;
    constexpr int64_t kEach = 100;
    const auto server = start_server();
    fill(*server, kNames);
    std::vector<std::unique_ptr<Client>> clients;
    clients.reserve(kClients);
    for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(*server, way));
    int64_t round = 0;
    for (auto _ : state) {
        std::vector<std::thread> threads;
        threads.reserve(kClients);
        for (int c = 0; c < kClients; ++c) {
            threads.emplace_back([&, c] {
                const Client& client = *clients[static_cast<std::size_t>(c)];
                for (int64_t i = 0; i < kEach; ++i) {
                    if (create) {
                        client.create(fmt::format("c{}.{}.{}", round, c, i));
                    } else {
                        client.set(fmt::format("p{}", (c * kEach + i) % kNames), fmt::format("{}", round));
                    }
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        ++round;
    }
    state.SetItemsProcessed(round * kClients * kEach);
}

void stat_objects(benchmark::State& state, Way way, mgr_obj type) {
    const auto server = start_server();
    const int64_t count = state.range(0);
    fill(*server, type == MGR_OBJ_POLICY ? count - 1 : 0, type == MGR_OBJ_POLICY ? 0 : count);
    const Client client(*server, way);
    for (auto _ : state) {
        if (client.stat(type) != static_cast<std::size_t>(count)) give_up("objects are missing");
    }
    state.SetComplexityN(count);
}

// Measures a whole qmgr command, from the start of the program to its end.
void list_command(benchmark::State& state, const std::string& type) {
    const auto server = start_server();
    const int64_t count = state.range(0);
    fill(*server, type == "policy" ? count - 1 : 0, type == "policy" ? 0 : count);
    for (auto _ : state) {
        const auto done = server->qmgr("list " + type + " @default");
        if (done.exit != 0 || done.out.size() < static_cast<std::size_t>(count) * 10)
            give_up("list: " + done.err);
    }
    state.SetComplexityN(count);
}

void start_of_qmgr(benchmark::State& state) {
    for (auto _ : state)
        if (pbs::e2e::run({"qmgr", "--version"}).exit != 0) give_up("qmgr doesn't start");
}

using Benchmark = benchmark::internal::Benchmark;

// Measures wall-clock time, as this is the time for which a client waits.
void on_the_wall(Benchmark* one) {
    one->UseRealTime()->Unit(benchmark::kMillisecond);
}
// Runs the benchmark with thousands of objects.
void with_thousands(Benchmark* one) {
    on_the_wall(one);
    one->Arg(1000)->Arg(10000);
}
void with_one_to_thousands(Benchmark* one) {
    on_the_wall(one);
    one->Arg(1)->Arg(1000)->Arg(10000);
}
void with_a_thousand(Benchmark* one) {
    on_the_wall(one);
    one->Arg(1000);
}
void growing(Benchmark* one) {
    with_one_to_thousands(one);
    one->Complexity(benchmark::oN);
}

BENCHMARK_CAPTURE(create_ahead, socket, Way::socket)->Apply(on_the_wall);
BENCHMARK_CAPTURE(create_ahead, tcp, Way::tcp)->Apply(on_the_wall);
BENCHMARK_CAPTURE(set_ahead, socket, Way::socket)->Apply(with_one_to_thousands);
BENCHMARK_CAPTURE(set_ahead, tcp, Way::tcp)->Apply(with_a_thousand);
BENCHMARK_CAPTURE(directives, create, true)->Apply(on_the_wall);
BENCHMARK_CAPTURE(directives, set, false)->Apply(on_the_wall);
BENCHMARK_CAPTURE(create_one_by_one, socket, Way::socket)->Apply(on_the_wall);
BENCHMARK_CAPTURE(create_one_by_one, tcp, Way::tcp)->Apply(on_the_wall);
BENCHMARK_CAPTURE(set_one_by_one, socket, Way::socket)->Apply(with_thousands);
BENCHMARK_CAPTURE(set_one_by_one, tcp, Way::tcp)->Apply(with_a_thousand);
BENCHMARK_CAPTURE(many_clients, create_socket, Way::socket, true)->Apply(on_the_wall);
BENCHMARK_CAPTURE(many_clients, create_tcp, Way::tcp, true)->Apply(on_the_wall);
BENCHMARK_CAPTURE(many_clients, set_socket, Way::socket, false)->Apply(on_the_wall);
BENCHMARK_CAPTURE(many_clients, set_tcp, Way::tcp, false)->Apply(on_the_wall);
BENCHMARK_CAPTURE(stat_objects, policy_socket, Way::socket, MGR_OBJ_POLICY)->Apply(growing);
BENCHMARK_CAPTURE(stat_objects, policy_tcp, Way::tcp, MGR_OBJ_POLICY)->Apply(growing);
BENCHMARK_CAPTURE(stat_objects, time_window_socket, Way::socket, MGR_OBJ_TIME_WINDOW)->Apply(growing);
BENCHMARK(start_of_qmgr)->Apply(on_the_wall);
BENCHMARK_CAPTURE(list_command, policy, "policy")->Apply(growing);
BENCHMARK_CAPTURE(list_command, time_window, "time_window")->Apply(growing);

}  // namespace

BENCHMARK_MAIN();
