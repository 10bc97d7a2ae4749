// Measures how long it takes to answer questions about time windows, with up to 10,000 windows.
// docs/benchmarks.md has the results.

#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <array>
#include <map>
#include <random>
#include <stdexcept>

#include "rrule/overlap.h"
#include "rrule/window_cache.h"

namespace pbs::rrule::bench {
namespace {

constexpr Instant kNow{Seconds{1795248000}};  // 2026-11-21 08:00 in UTC
constexpr Seconds kYear{std::chrono::days{365}};

// Returns the i-th window. The windows are like those of sites: office hours, nights, weekends, the first
// Monday of the month, a day each year, every third day. A tenth are in another time zone, and a third aren't
// open on holidays. No two windows are equal.
WindowSpec spec(std::size_t i) {
    static constexpr const char* kRules[] = {"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
                                             "FREQ=DAILY",
                                             "FREQ=WEEKLY;BYDAY=SA,SU",
                                             "FREQ=MONTHLY;BYDAY=1MO",
                                             "FREQ=DAILY;INTERVAL=3",
                                             "FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4",
                                             "FREQ=MONTHLY;BYMONTHDAY=1,15",
                                             "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"};
    const auto minutes = static_cast<int>(i % 1440);
    return {std::string(i % 10 == 9 ? "DTSTART;TZID=Europe/Berlin:20260101T000000 " : "") + kRules[i % 8],
            Seconds{minutes * 60}, Seconds{(minutes * 7 + static_cast<int>(i / 1440) + 1) % 1440 * 60},
            i % 3 != 0};
}

const Zone& zone() {
    static const Zone z = *Zone::find("America/Los_Angeles");
    return z;
}

NonWorkDays holidays() {
    const std::vector<std::string> entries{"01/01", "07/04", "12/25", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"};
    return *NonWorkDays::parse(entries, zone());
}

std::vector<Window> windows(std::size_t count) {
    std::vector<Window> out;
    for (std::size_t i = 0; i < count; ++i) {
        auto made = Window::make(spec(i), zone());
        if (!made) throw std::runtime_error(made.error().message);
        out.push_back(*made);
    }
    return out;
}

// Range of the instants in questions: most of the year that a set compiles at first.
constexpr Seconds kAsked{std::chrono::days{300}};

// Makes a set compile the days and the list of a year.
void compile_year(const WindowSet& set) {
    benchmark::DoNotOptimize(set.next_change(kNow));
    benchmark::DoNotOptimize(set.intervals(kNow, kNow + kYear));
}

// Returns sets of one window each, as for `count` queues. Each set has already compiled the times of kAsked.
// The sets are made once for each count.
const std::vector<WindowSet>& sets(std::size_t count) {
    static std::map<std::size_t, std::vector<WindowSet>> made;
    std::vector<WindowSet>& out = made[count];
    if (!out.empty()) return out;
    const NonWorkDays days = holidays();
    for (const Window& window : windows(count)) out.emplace_back(std::vector<Window>{window}, days);
    for (const WindowSet& set : out) {
        compile_year(set);
        benchmark::DoNotOptimize(set.next_change(kNow + kAsked));
        benchmark::DoNotOptimize(set.next_change(kNow));
    }
    return out;
}

// A question: a set and an instant. It has few bytes, so that most of the processor's caches are left for the
// sets.
struct Question {
    std::uint32_t set;
    std::uint32_t after_now;  // in seconds
};
constexpr std::size_t kQuestions = 16384;
using Questions = std::array<Question, kQuestions>;
Questions questions(std::size_t count) {
    std::mt19937 random(1);
    std::uniform_int_distribution<std::uint32_t> set(0, static_cast<std::uint32_t>(count - 1));
    std::uniform_int_distribution<std::uint32_t> at(0, static_cast<std::uint32_t>(kAsked.count()));
    Questions out;
    for (Question& q : out) q = {set(random), at(random)};
    return out;
}

template <class Ask>
void ask_sets(benchmark::State& state, bool same_time, const Ask& ask) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const auto& all = sets(count);
    auto list = questions(count);
    if (same_time)
        for (Question& q : list) q.after_now = 0;
    std::size_t i = 0;
    for (auto _ : state) {
        const Question& q = list[i++ % kQuestions];
        benchmark::DoNotOptimize(ask(all[q.set], kNow + Seconds{q.after_now}));
    }
    state.SetComplexityN(state.range(0));
    std::size_t bytes = 0;
    for (const WindowSet& set : all) bytes += set.memory();
    state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

bool contains(const WindowSet& set, Instant t) {
    return set.contains(t);
}
std::optional<Instant> next_change(const WindowSet& set, Instant t) {
    return set.next_change(t);
}

// Asks random sets about the present, as a scheduling cycle does. So does NextChangeNow().
void InsideNow(benchmark::State& state) {
    ask_sets(state, true, contains);
}
void NextChangeNow(benchmark::State& state) {
    ask_sets(state, true, next_change);
}
// Asks random sets about random times within kAsked. So does NextChangeAnyTime().
void InsideAnyTime(benchmark::State& state) {
    ask_sets(state, false, contains);
}
void NextChangeAnyTime(benchmark::State& state) {
    ask_sets(state, false, next_change);
}
BENCHMARK(InsideNow)->RangeMultiplier(10)->Range(10, 10000)->Complexity();
BENCHMARK(NextChangeNow)->RangeMultiplier(10)->Range(10, 10000)->Complexity();
BENCHMARK(InsideAnyTime)->RangeMultiplier(10)->Range(10, 10000)->Complexity();
BENCHMARK(NextChangeAnyTime)->RangeMultiplier(10)->Range(10, 10000)->Complexity();

// Asks the union of all windows about random times within kAsked.
void InsideAUnion(benchmark::State& state) {
    const WindowSet set(windows(static_cast<std::size_t>(state.range(0))), holidays());
    const auto list = questions(1);
    compile_year(set);
    std::size_t i = 0;
    for (auto _ : state) {
        const Instant at = kNow + Seconds{list[i++ % kQuestions].after_now};
        benchmark::DoNotOptimize(set.contains(at));
        benchmark::DoNotOptimize(set.next_change(at));
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(InsideAUnion)->RangeMultiplier(10)->Range(10, 10000)->Complexity();

// Measures how long it takes to compile a year of each set. There is a set for each window, with a parsed
// rule.
void CompileAYear(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const auto all = windows(count);
    const NonWorkDays days = holidays();
    std::size_t memory = 0;
    for (auto _ : state) {
        memory = 0;
        for (const Window& window : all) {
            const WindowSet set({window}, days);
            compile_year(set);
            memory += set.memory();
        }
    }
    state.SetComplexityN(state.range(0));
    state.counters["bytes_per_window"] = static_cast<double>(memory) / static_cast<double>(count);
}
BENCHMARK(CompileAYear)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

// Measures how long it takes to compile a year of one set with all windows.
void CompileAYearOfAUnion(benchmark::State& state) {
    const auto all = windows(static_cast<std::size_t>(state.range(0)));
    const NonWorkDays days = holidays();
    for (auto _ : state) {
        const WindowSet set(all, days);
        compile_year(set);
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(CompileAYearOfAUnion)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void Parse(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(windows(static_cast<std::size_t>(state.range(0))));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(Parse)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

// Measures how long it takes to read all windows again after one of them has changed.
void ReadAgainAfterOneChange(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::vector<WindowSpec> specs;
    for (std::size_t i = 0; i < count; ++i) specs.push_back(spec(i));
    WindowCache cache;
    const auto read = [&](int change) {
        specs[0].rrule = fmt::format("FREQ=DAILY;INTERVAL={}", 1 + change % 1000);
        for (std::size_t i = 0; i < count; ++i) {
            const auto set = cache.set({&specs[i], 1}, zone());
            benchmark::DoNotOptimize(set->contains(kNow));
        }
        cache.drop_unused();
    };
    int change = 0;
    read(change);
    for (auto _ : state) read(++change);
    state.SetComplexityN(state.range(0));
}
BENCHMARK(ReadAgainAfterOneChange)
    ->RangeMultiplier(10)
    ->Range(10, 10000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

// Measures the search for overlaps among a queue's windows after one or all of them have changed. A changed
// window is made from its text; the others are kept, as in a server. With each of these families of rules, a
// manager could keep the server busy: their windows are open at the same times of day, or at nearly the same
// times in several time zones.
using Family = std::string (*)(int);
std::string one_a_year(int i) {
    return fmt::format("FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}", i / 28 % 12 + 1, i % 28 + 1);
}
std::string in_turns(int i) {
    return fmt::format("DTSTART:202601{:02} FREQ=DAILY;INTERVAL={}", i % 28 + 1, 28 + i % 3 * 28);
}
std::string hours(int i) {
    return fmt::format("FREQ=HOURLY;INTERVAL={};BYMONTH={};BYYEARDAY={}", 25 + 2 * i, i % 12 + 1,
                       i % 12 * 30 + 15);
}
std::string leap_days(int i) {
    return fmt::format("FREQ=YEARLY;INTERVAL={};BYMONTH=2;BYMONTHDAY=29;BYDAY={}", 3 + 2 * i,
                       std::array{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}[static_cast<std::size_t>(i % 7)]);
}
std::string weeks(int i) {
    return fmt::format("FREQ=YEARLY;INTERVAL={};BYWEEKNO={};BYDAY=MO;BYSETPOS=-1", 1 + i % 2 * 6, i % 53 + 1);
}
std::string removed(int i) {
    std::string rule = fmt::format("DTSTART:20260101 FREQ=YEARLY;BYMONTH=1;BYMONTHDAY={}", i % 28 + 1);
    rule += " EXDATE:";
    for (int year = 2026; year < 2900; ++year)
        rule += fmt::format("{}{}01{:02}", year == 2026 ? "" : ",", year, i % 28 + 1);
    return rule;
}
std::string zones(int i) {
    static constexpr const char* kZones[] = {"Europe/Vienna", "America/New_York", "Australia/Lord_Howe",
                                             "Asia/Kolkata",  "America/Santiago", "Africa/Casablanca"};
    return fmt::format("DTSTART;TZID={}:20260101T000000 FREQ=MONTHLY;BYMONTHDAY={}", kZones[i % 6],
                       i % 28 + 1);
}
std::string odd_zones(int i) {
    static constexpr const char* kZones[] = {"Europe/Vienna", "America/New_York"};
    return fmt::format("DTSTART;TZID={}:20260101T000000 FREQ=DAILY;INTERVAL={}", kZones[i % 2], 11 + i);
}

void OneOfAQueue(benchmark::State& state, Family rule, bool all) {
    const auto count = static_cast<int>(state.range(0));
    const NonWorkDays none = holidays();
    std::uint64_t work = 0;
    bool gave_up = false;
    std::vector<WindowSpec> specs;
    std::vector<Window> queue;
    for (int i = 0; i < count; ++i) {
        const WindowSpec spec{rule(i), Seconds{8 * 3600}, Seconds{8 * 3600 + 60}, i % 2 == 0};
        const auto made = Window::make(spec, zone());
        if (!made) continue;  // the rule never occurs
        specs.push_back(spec);
        queue.push_back(*made);
    }
    std::vector<std::size_t> changed(all ? queue.size() : 1);
    std::iota(changed.begin(), changed.end(), std::size_t{0});
    for (auto _ : state) {
        for (const std::size_t i : changed) queue[i] = *Window::make(specs[i], zone());
        OverlapSearch search(none, kNow);
        benchmark::DoNotOptimize(search.of(queue, changed));
        work = search.work();
        gave_up = search.gave_up();
    }
    state.counters["work"] = static_cast<double>(work);
    state.counters["gave_up"] = gave_up ? 1 : 0;
}
void queue_sizes(benchmark::internal::Benchmark* one) {
    one->Arg(10)->Arg(300)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(OneOfAQueue, one_a_year, one_a_year, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, one_a_year_all_changed, one_a_year, true)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, in_turns, in_turns, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, hours, hours, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, hours_all_changed, hours, true)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, leap_days, leap_days, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, leap_days_all_changed, leap_days, true)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, weeks, weeks, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, removed, removed, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, zones, zones, false)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, zones_all_changed, zones, true)->Apply(queue_sizes);
BENCHMARK_CAPTURE(OneOfAQueue, odd_zones, odd_zones, false)->Apply(queue_sizes);

// Measures how long it takes to make a window from one of the most expensive rules, and to answer its first
// question.
void HostileRule(benchmark::State& state, const std::string& rule) {
    for (auto _ : state) {
        auto made = Window::make({rule, Seconds{8 * 3600}, Seconds{9 * 3600}, true}, zone());
        if (made) benchmark::DoNotOptimize(WindowSet({*made}).next_change(kNow));
    }
}
std::string numbers(const char* name, int from, int to) {
    std::string out = fmt::format(";{}={}", name, from);
    for (int i = from + 1; i <= to; ++i) out += fmt::format(",{}", i);
    return out;
}
BENCHMARK_CAPTURE(HostileRule, never, "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HostileRule, far, "DTSTART:20000101 FREQ=YEARLY;INTERVAL=7999;BYYEARDAY=366")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HostileRule, days_far, "FREQ=HOURLY;INTERVAL=32767;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HostileRule, counted, "DTSTART:16010101T000000 FREQ=DAILY;COUNT=100000")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HostileRule, counted_weeks,
                  "DTSTART:16010101T000000 FREQ=WEEKLY;COUNT=100000;BYDAY=MO,TU,WE,TH,FR,SA,SU" +
                      numbers("BYHOUR", 0, 23) + numbers("BYMINUTE", 0, 59) + numbers("BYSECOND", 0, 59) +
                      ";BYSETPOS=-1")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HostileRule, positions,
                  "DTSTART:16010101T000000 FREQ=YEARLY;COUNT=100000" + numbers("BYMONTHDAY", 1, 31) +
                      numbers("BYSETPOS", 1, 366) + numbers("BYHOUR", 0, 23) + numbers("BYMINUTE", 0, 59) +
                      numbers("BYSECOND", 0, 59))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pbs::rrule::bench

BENCHMARK_MAIN();
