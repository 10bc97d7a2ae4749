// Measures how long clients wait while a manager creates, changes, rolls back, imports and lists a large
// configuration. The server and the commands are those of this build. The waiting client is a second
// connection that asks for the server's status again and again.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
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
using pbs::e2e::Output;
using pbs::e2e::Server;
using Clock = std::chrono::steady_clock;

// The waiting client. It asks for the server's status a millisecond after each answer.
class Other {
  public:
    explicit Other(const Server& server) {
        setenv("PBS_HOME", server.home().c_str(), 1);
        handle_ = pbs_connect(nullptr);
        if (handle_ < 0) give_up(fmt::format("no connection: {}", pbs_geterrmsg(-1)));
        thread_ = std::thread([this] { ask(); });
    }
    Other(const Other&) = delete;
    Other& operator=(const Other&) = delete;
    ~Other() { stop(); }

    // Stops the client. Returns its waits in milliseconds, in ascending order.
    std::vector<double> stop() {
        if (thread_.joinable()) {
            over_ = true;
            thread_.join();
            pbs_disconnect(handle_);
            std::ranges::sort(waited_);
        }
        return waited_;
    }

  private:
    void ask() {
        while (!over_) {
            const auto begin = Clock::now();
            batch_status* status = pbs_statserver(handle_, nullptr, nullptr);
            if (status == nullptr) give_up(fmt::format("status: {}", pbs_geterrmsg(handle_)));
            pbs_statfree(status);
            waited_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    int handle_ = -1;
    std::atomic<bool> over_ = false;
    std::vector<double> waited_;
    std::thread thread_;
};

void must(const Output& done, const std::string& what) {
    if (done.exit != 0) give_up(fmt::format("{}: {}", what, done.err.substr(0, 1000)));
}

void config(const Server& server, std::vector<std::string> arguments) {
    const std::string what = fmt::format("{}", fmt::join(arguments, " "));
    arguments.insert(arguments.begin(), "pbs_config");
    must(server.command(arguments, {.timeout = std::chrono::seconds(600)}), what);
}

void qmgr(const Server& server, const std::string& input) {
    must(server.command({"qmgr"}, {.input = input, .timeout = std::chrono::seconds(600)}), "qmgr");
}

std::string revision(const Server& server) {
    const Output last = server.command({"pbs_config", "history", "--limit", "1", "--json"});
    const std::size_t at = last.out.find("\"revision\"");
    if (at == std::string::npos) return "0";
    return std::to_string(
        std::strtoull(last.out.c_str() + last.out.find_first_of("0123456789", at), nullptr, 10));
}

enum class What { nodes, policies, windows, queues };

std::unique_ptr<Server> start() {
    auto server = start_server();
    qmgr(*server, "set server scheduling=False\n");
    return server;
}

std::string objects(What what, int64_t count) {
    std::string input;
    for (int64_t i = 0; i < count; ++i) switch (what) {
            case What::nodes:
                input += fmt::format("create node n{} resources_available.ncpus=8\n", i);
                break;
            case What::policies:
                input += fmt::format("create policy p{} comment=c{}\n", i, i % 100);
                break;
            case What::queues:
                input += fmt::format("create queue q{} queue_type=execution\n", i);
                break;
            case What::windows:
                input += fmt::format(
                    "create time_window t{} rrule='FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}',start_time=0800,"
                    "end_time=1700\n",
                    i, i / 28 % 12 + 1, i % 28 + 1);
                break;
        }
    return input;
}

void report(benchmark::State& state, std::vector<double> waited) {
    const auto at = [&](double share) {
        return waited.empty()
                   ? 0
                   : waited[static_cast<std::size_t>(share * static_cast<double>(waited.size() - 1))];
    };
    state.counters["requests"] = static_cast<double>(waited.size());
    state.counters["ms_50%"] = at(0.5);
    state.counters["ms_99%"] = at(0.99);
    state.counters["ms_most"] = at(1);
}

// Makes a server with range(0) objects of the kind `what`, and calls prepare() with the revision from before
// the objects were made. Then measures the waits of another client during act().
template <class Prepare, class Act>
void others_wait(benchmark::State& state, What what, Prepare prepare, Act act) {
    const auto server = start();
    const std::string empty = revision(*server);
    qmgr(*server, objects(what, state.range(0)));
    prepare(*server, empty);
    std::vector<double> waited;
    for (auto _ : state) {
        Other other(*server);
        act(*server);
        const std::vector<double> some = other.stop();
        waited.insert(waited.end(), some.begin(), some.end());
    }
    std::ranges::sort(waited);
    report(state, std::move(waited));
}

// Measures the rollback of a `change` that was made to every object.
void rollback(benchmark::State& state, What what, const std::string& change) {
    std::string before;
    others_wait(
        state, what,
        [&](const Server& server, const std::string&) {
            before = revision(server);
            std::string input;
            for (int64_t i = 0; i < state.range(0); ++i) input += fmt::format(fmt::runtime(change), i) + "\n";
            qmgr(server, input);
        },
        [&](const Server& server) {
            config(server, {"rollback", before});
        });
}

// Measures the import of the exported configuration into a server whose objects were removed.
void import(benchmark::State& state, What what) {
    std::string document;
    others_wait(
        state, what,
        [&](const Server& server, const std::string& empty) {
            document = server.work() / "document.json";
            config(server, {"export", document});
            config(server, {"rollback", empty});
        },
        [&](const Server& server) {
            config(server, {"import", document});
        });
}

// Measures the import of the exported configuration into a server that has all the objects.
void import_again(benchmark::State& state, What what) {
    std::string document;
    others_wait(
        state, what,
        [&](const Server& server, const std::string&) {
            document = server.work() / "document.json";
            config(server, {"export", document});
        },
        [&](const Server& server) {
            config(server, {"import", document});
        });
}

void export_now(benchmark::State& state, What what) {
    others_wait(
        state, what, [](const Server&, const std::string&) {},
        [](const Server& server) {
            config(server, {"export", server.work() / "document.json"});
        });
}

// Measures the export of a past revision: the one from before the objects were created.
void export_past(benchmark::State& state, What what) {
    std::string before;
    others_wait(
        state, what, [&](const Server&, const std::string& empty) { before = empty; },
        [&](const Server& server) {
            config(server, {"export", "--revision", before, server.work() / "document.json"});
        });
}

void history(benchmark::State& state) {
    others_wait(
        state, What::policies, [](const Server&, const std::string&) {},
        [](const Server& server) {
            config(server, {"history", "--limit", "1000000"});
        });
}

// Measures a qmgr directive. It is one request, whether it names an object or concerns all objects.
void directive(benchmark::State& state, What what, const std::string& text) {
    others_wait(
        state, what, [](const Server&, const std::string&) {},
        [&](const Server& server) { must(server.qmgr(text), text); });
}

enum class Migrate { first, dry_run, again };

// Writes the files of a migration: range(0) holidays, dedicated times and share groups, and a sched_config
// with every option.
void write_files(const Server& server, int64_t count) {
    const auto write = [&](const char* name, int64_t lines, const auto& line, std::string text) {
        for (int64_t i = 0; i < lines; ++i) text += line(i) + "\n";
        std::ofstream(server.work() / name) << text;
    };
    write(
        "holidays", count,
        [](int64_t i) { return fmt::format("{} {}/{} Day {}", i % 365 + 1, i / 28 % 12 + 1, i % 28 + 1, i); },
        "YEAR 2026\nweekday 0800 1700\n");
    write(
        "dedicated_time", std::min<int64_t>(count, 300),  // an rrule has no room for more
        [](int64_t i) {
            return fmt::format("{0:02}/{1:02}/{2} 08:00 {0:02}/{1:02}/{2} 09:00", i / 28 % 12 + 1, i % 28 + 1,
                               2027 + i / 336);
        },
        "");
    write(
        "resource_group", count,
        [](int64_t i) { return fmt::format("user{} {} root {}", i, i + 10, i % 100 + 1); }, "");
    std::ofstream(server.work() / "sched_config")
        << "round_robin: False all\nby_queue: True prime\nby_queue: False non_prime\n"
           "strict_ordering: True all\nfair_share: True all\nhelp_starving_jobs: True all\n"
           "max_starve: 24:00:00\nprimetime_prefix: p_\n";
}

void migrate(const Server& server, bool dry_run) {
    const auto file = [&](const char* name) { return (server.work() / name).string(); };
    std::vector<std::string> command{"pbs_migrate",      "--server",
                                     "--sched-config",   file("sched_config"),
                                     "--holidays",       file("holidays"),
                                     "--dedicated-time", file("dedicated_time"),
                                     "--resource-group", file("resource_group")};
    if (dry_run) command.emplace_back("--dry-run");
    must(server.command(command, {.timeout = std::chrono::seconds(600)}), "pbs_migrate");
}

// Measures a migration on a running server.
void migration(benchmark::State& state, Migrate kind) {
    others_wait(
        state, What::policies,
        [&](const Server& server, const std::string&) {
            write_files(server, state.range(0));
            if (kind == Migrate::again) migrate(server, false);
        },
        [&](const Server& server) { migrate(server, kind == Migrate::dry_run); });
}

void sizes(benchmark::internal::Benchmark* one) {
    one->Arg(100)->Arg(4000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}
void all_sizes(benchmark::internal::Benchmark* one) {
    sizes(one);
    one->Arg(10000);
}
void large_sizes(benchmark::internal::Benchmark* one) {
    one->Arg(100)->Arg(10000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);
}

BENCHMARK_CAPTURE(rollback, nodes, What::nodes, "set node n{0} comment=c{0}")->Apply(all_sizes);
BENCHMARK_CAPTURE(rollback, policies, What::policies, "set policy p{0} comment=c{0}")->Apply(all_sizes);
BENCHMARK_CAPTURE(rollback, time_windows, What::windows, "set time_window t{0} end_time=1800")
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(import, nodes, What::nodes)->Apply(all_sizes);
BENCHMARK_CAPTURE(import, policies, What::policies)->Apply(all_sizes);
BENCHMARK_CAPTURE(import, time_windows, What::windows)->Apply(all_sizes);
BENCHMARK_CAPTURE(directive, change_nodes, What::nodes, "set node @default comment=x")->Apply(sizes);
BENCHMARK_CAPTURE(directive, change_non_work_days, What::windows, "set server non_work_days='12/24,12/25'")
    ->Apply(sizes);
BENCHMARK_CAPTURE(directive, change_queues, What::queues, "set queue @default Priority=5")->Apply(sizes);
BENCHMARK_CAPTURE(migration, first, Migrate::first)->Apply(sizes);
BENCHMARK_CAPTURE(migration, dry_run, Migrate::dry_run)->Apply(sizes);
BENCHMARK_CAPTURE(migration, again, Migrate::again)->Apply(sizes);
BENCHMARK_CAPTURE(import_again, nodes, What::nodes)->Apply(large_sizes);
BENCHMARK_CAPTURE(import_again, policies, What::policies)->Apply(large_sizes);
BENCHMARK_CAPTURE(import_again, time_windows, What::windows)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_now, nodes, What::nodes)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_now, policies, What::policies)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_now, time_windows, What::windows)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_past, nodes, What::nodes)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_past, policies, What::policies)->Apply(large_sizes);
BENCHMARK_CAPTURE(export_past, time_windows, What::windows)->Apply(large_sizes);
BENCHMARK(history)->Apply(large_sizes);
BENCHMARK_CAPTURE(directive, print_nodes, What::nodes, "print node @default")->Apply(large_sizes);
BENCHMARK_CAPTURE(directive, print_policies, What::policies, "print policy @default")->Apply(large_sizes);
BENCHMARK_CAPTURE(directive, print_server, What::nodes, "print server")->Apply(large_sizes);

}  // namespace

BENCHMARK_MAIN();
