// Measures how late a server switches policies, or opens and closes queues: the time from the instant at
// which a window opens or closes until the end of the next cycle. The server, its timer and the plugin are
// those of this build. The times are in the server's log.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/bench/server.h"
#include "tests/e2e/harness.h"

namespace {

using pbs::bench::give_up;
using pbs::e2e::Server;

// Returns the time of day of an instant in the form of start_time and end_time.
std::string clock(std::int64_t instant) {
    const std::int64_t s = instant % 86400;
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

// Returns the commands that make daily windows w0, w1, .... Each is open for a second, and the next one opens
// a second later. So each second a window opens or closes.
std::string windows(std::int64_t count, std::string_view type) {
    std::string input;
    const std::int64_t first = std::time(nullptr) - 2;
    for (std::int64_t i = 0; i < count; ++i)
        input += fmt::format("create time_window w{} rrule=FREQ=DAILY, start_time={}, end_time={}, type={}\n",
                             i, clock(first + 2 * i), clock(first + 2 * i + 1), type);
    return input;
}

// The windows are prime time, which has its own policy. So the policy changes each second.
std::string policy_switches(std::int64_t count) {
    return "create policy day\ncreate policy night\n" + windows(count, "prime") +
           "set sched default policy='default_policy,p:day,np:night'\n";
}

// Each window belongs to its own queue, which is open only within the window.
std::string queues(std::int64_t count) {
    std::string input = windows(count, "standard");
    for (std::int64_t i = 0; i < count; ++i)
        input += fmt::format(
            "create queue q{} queue_type=execution, enabled=True, started=True, time_window=w{}\n", i, i);
    return input;
}

// Returns the time at the beginning of a line of the log, such as "11/23/2026 10:00:00.000123;...", in
// microseconds since midnight.
std::int64_t stamp_of(const std::string& line) {
    const auto number = [&](std::size_t at, std::size_t length) {
        std::int64_t value = 0;
        std::from_chars(line.data() + at, line.data() + at + length, value);
        return value;
    };
    return ((number(11, 2) * 60 + number(14, 2)) * 60 + number(17, 2)) * 1'000'000 + number(20, 6);
}

// Delays after the instants at which changes are due, in microseconds.
struct Lateness {
    std::vector<double> timer;  // delays until the timer's call
    std::vector<double> cycle;  // delays until the end of the cycle
};

Lateness lateness_in(const std::string& log) {
    Lateness out;
    std::istringstream lines(log);
    constexpr std::int64_t kNone = -1;  // no std::optional: g++ 12 would warn of it
    std::int64_t due = kNone;
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view kReached = "deadline;reached after ";
        if (const auto at = line.find(kReached); at != std::string::npos) {
            std::int64_t late = 0;
            std::from_chars(line.data() + at + kReached.size(), line.data() + line.size(), late);
            // Changes are due at whole seconds. The line is written some microseconds after `late` was
            // measured. So round the difference down to a second.
            due = (stamp_of(line) - late) / 1'000'000 * 1'000'000;
            out.timer.push_back(static_cast<double>(late));
        } else if (due != kNone && line.find(";default;cycle, command ") != std::string::npos) {
            out.cycle.push_back(static_cast<double>(stamp_of(line) - due));
            due = kNone;
        }
    }
    return out;
}

double quantile(std::vector<double> values, double part) {
    if (values.empty()) give_up("no switch was seen");
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

// Runs a server with range(0) windows for range(1) seconds, and measures its delays.
void lateness(benchmark::State& state, std::string (*objects)(std::int64_t)) {
    Server server({.now = std::time(nullptr), .arguments = {}, .program = {}});
    if (const auto started = server.start(); !started) give_up(started.message());
    const auto made =
        server.command({"qmgr"}, {.input = objects(state.range(0)), .timeout = std::chrono::seconds(600)});
    if (made.exit != 0) give_up("the objects could not be made: " + made.err);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const std::size_t before = server.log().size();
    for (auto _ : state) std::this_thread::sleep_for(std::chrono::seconds(state.range(1)));
    const Lateness found = lateness_in(server.log().substr(before));
    if (found.cycle.size() + 2 < static_cast<std::size_t>(state.range(1)))
        give_up(fmt::format("{} cycles in {} seconds, expected one for each", found.cycle.size(),
                            state.range(1)));
    state.counters["switches"] = static_cast<double>(found.cycle.size());
    for (const auto& [name, values] : {std::pair{"timer", found.timer}, std::pair{"cycle", found.cycle}}) {
        state.counters[fmt::format("{}_us_50%", name)] = quantile(values, 0.5);
        state.counters[fmt::format("{}_us_90%", name)] = quantile(values, 0.9);
        state.counters[fmt::format("{}_us_99%", name)] = quantile(values, 0.99);
        state.counters[fmt::format("{}_us_max", name)] = quantile(values, 1);
    }
}

BENCHMARK_CAPTURE(lateness, policy, policy_switches)
    ->Args({100, 3})
    ->Args({1000, 300})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(lateness, queues, queues)
    ->Args({1000, 300})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

}  // namespace

BENCHMARK_MAIN();
