#include "tests/bench/report/tables.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

namespace pbs::bench {
namespace {

// ---- How figures are printed ----

// A time, which is measured in seconds.
constexpr Print kSeconds{.format = "{} s"};
constexpr Print kMilliseconds{.scale = 1e3, .format = "{} ms"};
constexpr Print kMicroseconds{.scale = 1e6, .format = "{} us"};
constexpr Print kNanoseconds{.scale = 1e9, .format = "{} ns"};
// A counter, whose unit is that of the print.
constexpr Print kMs{.format = "{} ms"};
constexpr Print kUsAsMs{.scale = 1e-3, .format = "{} ms"};
constexpr Print kMegabytes{.digits = 3, .format = "{} MB"};
constexpr Print kBytes{.digits = 4, .format = "{} B"};
constexpr Print kPerSecond{.digits = 3, .format = "{}/s"};
constexpr Print kCount{.digits = 4};

constexpr const char* kReal = "real_time";
constexpr const char* kCpu = "cpu_time";
// A folder in memory.
constexpr const char* kMemory = "/dev/shm";

// ---- Cells ----

using Cells = std::vector<Cell>;

// Nothing measures this cell.
Cell nothing() {
    return {};
}

// The text of this cell stays.
Cell kept() {
    Cell one;
    one.kept = true;
    return one;
}

Cell cell(std::string program, std::string benchmark, std::string value, const Print& print) {
    return {{std::move(program), std::move(benchmark), ""}, std::move(value), print};
}

Cell in_memory(Cell one) {
    one.benchmark.tmp = kMemory;
    return one;
}

// A cell for each of the arguments, which stand for "{}" in the benchmark's name. An empty argument makes a
// cell that nothing measures.
Cells over(const std::string& program, const std::string& name, const std::vector<std::string>& arguments,
           const std::string& value, const std::vector<Print>& prints) {
    Cells cells;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        cells.push_back(arguments[i].empty() ? nothing()
                                             : cell(program, fmt::format(fmt::runtime(name), arguments[i]),
                                                    value, prints[std::min(i, prints.size() - 1)]));
    return cells;
}

struct Counter {
    std::string name;
    Print print;
};

// A cell for each of these values of one benchmark.
Cells counters(const std::string& program, const std::string& name, const std::vector<Counter>& values) {
    Cells cells;
    for (const Counter& one : values) cells.push_back(cell(program, name, one.name, one.print));
    return cells;
}

// How long a client waits for an answer.
std::vector<Counter> waits() {
    return {{"ms_50%", kMs}, {"ms_99%", kMs}, {"ms_most", kMs}};
}

std::vector<Counter> operator+(std::vector<Counter> some, const std::vector<Counter>& others) {
    some.insert(some.end(), others.begin(), others.end());
    return some;
}

// ---- The tables ----

Table summary() {
    const std::string openpbs = "openpbs_bench";
    const Print peer{.format = "pbs_sched: {} s"};
    return {"summary",
            1,  // the other tables have the same figures, and decide
            {{"a cycle over 1,000,000 new jobs",
              {cell("cycle_bench", "FullCycle/1000000", kReal, kSeconds), nothing()}},
             {"a cycle after an end, 1,000,000 queued jobs",
              {cell("cycle_bench", "CycleAfterEnd/1000000", "p50", kMilliseconds), nothing()}},
             {"starts of 2,000 of 10,000 jobs in an OpenPBS server",
              {cell(openpbs, "cycle/inside/jobs:10000", "last_start_s", kSeconds),
               cell(openpbs, "cycle/pbs_sched/jobs:10000", "last_start_s", peer)}},
             {"the same, with a comment for each other job",
              {cell(openpbs, "cycle/inside/jobs:10000", "all_s", kSeconds),
               cell(openpbs, "cycle/pbs_sched/jobs:10000", "all_s", peer)}},
             {"creating objects by qmgr",
              {cell("objects_bench", "directives/create", "items_per_second", kPerSecond), kept()}},
             {"submissions, 8 connections, disk",
              {cell("queue_bench", "submissions/connections:8/jobs:40000/ahead:64", "per_s", kPerSecond),
               nothing()}},
             {"start of a server with 1,000,000 jobs",
              {cell("queue_bench", "queued/jobs:1000000", "restart_s", kSeconds), nothing()}},
             {"real starts of 2,000 jobs",
              {cell("starts_bench", "jobs_start/jobs:2000", "starts_per_s", kPerSecond),
               cell("starts_bench", "kernel_alone/jobs:2000", "starts_per_s",
                    {.digits = 3, .format = "the kernel alone: {}/s"})}},
             {"simulated starts, 100,000 jobs on 1,000 vnodes",
              {cell("simulate_bench", "Origin/jobs:100000/vnodes:1000", "starts", kPerSecond), nothing()}}}};
}

Table cycle() {
    const std::vector<std::string> three{"10000", "100000", "1000000"};
    const std::vector<std::string> large{"", "100000", "1000000"};
    const std::vector<std::string> small{"10000", "100000", ""};
    const auto row = [](const std::string& name, const std::vector<std::string>& sizes,
                        const std::vector<Print>& prints = {kMilliseconds}) -> Row {
        return {name, over("cycle_bench", name + "/{}", sizes, kReal, prints)};
    };
    return {
        "cycle",
        3,
        {row("FullCycle", three), row("FullCycleUserLimits", three), row("FullCycleDrained", three),
         row("FullCycleOrderOfTotals", large, {kSeconds, kMilliseconds, kSeconds}),
         row("FullCycleMostUnusedFirst", large, {kSeconds, kMilliseconds, kSeconds}),
         row("FullCycleEstimates", three), row("FullCycleEstimatesOfAll", {"10000", "", ""}),
         row("CycleAfterArrival", small), row("CycleAfterArrivalShares", large),
         row("CycleAfterArrivalDrained", three), row("CycleAfterEnd", small),
         row("CycleAfterEndShares", {"", "100000", ""}), row("CycleAfterEndDrained", small),
         row("CycleAfterEndUserLimits", three), row("CycleAfterEndNonprimeDrainSys", small),
         row("CycleAfterEndFragments", small), row("CycleAfterEndMaxJobs", small),
         Row{"BytesPerQueuedJob", over("cycle_bench", "BytesPerQueuedJob/{}", large, "bytes", {kBytes})}}};
}

Table estimates() {
    const auto row = [](const std::string& label, const std::string& value, const Print& print) -> Row {
        return {label, over("cycle_bench", "EstimatesAfterEnd/{}", {"1000", "10000"}, value, {print})};
    };
    return {
        "estimates",
        3,
        {row("half of the cycles take", "p50", kMilliseconds),
         row("99 of 100 take at most", "p99", kMilliseconds), row("estimates that move", "moved", kCount)}};
}

// Cycles after one event, of a million jobs.
Table events() {
    const std::vector<Counter> times{{"p50", kMilliseconds}, {"p99", kMilliseconds}, {"considered", kCount}};
    std::vector<Row> rows;
    for (const char* name :
         {"CycleAfterArrival", "CycleAfterEnd", "CycleAfterEndShares", "CycleAfterEndUrgencies",
          "CycleAfterEndOfMostUrgent", "CycleAfterEndDrained", "CycleAfterEndEntityLimits",
          "CycleAfterEndReservations", "CycleAfterEndPreemption", "CycleAfterEndEstimates",
          "CycleAfterEndSets", "CycleAfterEndUserLimits", "CycleAfterEndEligibleTime"})
        rows.push_back({name, counters("cycle_bench", fmt::format("{}/1000000", name), times)});
    return {"events", 1, rows};
}

Table quotas() {
    return {"quotas",
            9,
            {{"100,000 jobs",
              over("cycle_bench", "{}/100000",
                   {"FullCycle", "FullCycleQuota", "FullCycleQuotaOnVnodes", "FullCycleUrgencies"}, kCpu,
                   {{.scale = 1e3, .digits = 3, .format = "{} ms"}})}}};
}

Table openpbs() {
    const auto row = [](const std::string& label, const std::string& value, const Print& print) -> Row {
        return {label, over("openpbs_bench", "cycle/{}/jobs:10000", {"pbs_sched", "inside"}, value, {print})};
    };
    Table table{"openpbs",
                1,
                {row("last start", "last_start_s", kSeconds), row("all", "all_s", kSeconds),
                 row("one more", "one_more_ms", kMs), row("longest wait of others", "longest_ask_ms", kMs),
                 row("memory of the server", "server_MB", kMegabytes),
                 row("memory of the scheduler's process", "scheduler_MB", kMegabytes)}};
    table.rows.back().cells.back() = nothing();
    return table;
}

Table queue() {
    const auto row = [](const std::string& label, const std::string& value, const Print& print) -> Row {
        const Cell one = cell("queue_bench", "queued/jobs:1000000", value, print);
        return {label, {in_memory(one), one}};
    };
    const auto submissions = [](const std::string& label, const std::string& how) -> Row {
        return {label, {nothing(), cell("queue_bench", "submissions/" + how, "per_s", kPerSecond)}};
    };
    return {
        "queue",
        1,
        {row("start", "restart_s", kSeconds), row("`qstat` of all", "qstat_s", kSeconds),
         row("status of one job, 50 %", "one_ms_50%", kMs), row("status of one job, 99 %", "one_ms_99%", kMs),
         row("first cycle, with comments", "cycle_s", kSeconds),
         row("longest wait meanwhile", "cycle_ms_most", kMs),
         row("memory of a job after the start", "B_a_job", kBytes),
         row("memory of a job after the first cycle", "B_a_job_after", kBytes),
         row("room of a job in the database", "db_B_a_job", kBytes),
         submissions("submissions by 1 connection", "connections:1/jobs:20000/ahead:64"),
         submissions("submissions by 8 connections", "connections:8/jobs:40000/ahead:64"),
         submissions("submissions by 64 connections", "connections:64/jobs:40000/ahead:16")}};
}

Table starts() {
    const auto row = [](const std::string& label, const std::string& name, const char* rate) -> Row {
        return {label, counters("starts_bench", name,
                                std::vector<Counter>{{rate, {.digits = 3}}} + waits() +
                                    std::vector<Counter>{{"turns_over_50", kCount}})};
    };
    return {"starts",
            4,
            {row("500 starts", "jobs_start/jobs:500", "starts_per_s"),
             row("2,000 starts", "jobs_start/jobs:2000", "starts_per_s"),
             row("2,000 starts without login shells", "jobs_start_plain/jobs:2000", "starts_per_s"),
             row("500 ends", "jobs_end/jobs:500", "ends_per_s"),
             row("2,000 ends", "jobs_end/jobs:2000", "ends_per_s"),
             Row{"the kernel alone",
                 {cell("starts_bench", "kernel_alone/jobs:2000", "starts_per_s", {.digits = 3}), nothing(),
                  nothing(), nothing(), nothing()}}}};
}

Table external() {
    const std::vector<std::string> sizes{"500", "2000"};
    const auto row = [&](const std::string& label, const std::string& name, const std::string& value,
                         const Print& print) -> Row {
        return {label, over("starts_bench", name, sizes, value, {print})};
    };
    const std::string change = "external_change/jobs:{}";
    const std::string plain = "external_starts/jobs:{}/check:0";
    const std::string checked = "external_starts/jobs:{}/check:1";
    return {"external",
            1,
            {row("a change, 50 %", change, "ms_50%", kMs), row("a change, 99 %", change, "ms_99%", kMs),
             row("a change, longest", change, "ms_most", kMs),
             row("starts, each acknowledged", plain, "starts_per_s", kPerSecond),
             row("the same, with the check", checked, "starts_per_s", kPerSecond),
             row("the server's processor time for a start", plain, "server_us_per_start", kUsAsMs),
             row("this time, with the check", checked, "server_us_per_start", kUsAsMs)}};
}

Table latency() {
    const auto row = [](const std::string& label, const std::string& name) -> Row {
        return {label, counters("latency_bench", "during_a_cycle/" + name,
                                std::vector<Counter>{{kReal, kSeconds}, {"requests", kCount}} + waits())};
    };
    return {
        "latency",
        1,
        {row("21,000, the first cycle", "the_first/21000"),
         row("300,000, the first cycle", "the_first/300000"),
         row("999,900, the first cycle", "the_first/999900"), row("21,000, a later one", "a_later_one/21000"),
         row("300,000, a later one", "a_later_one/300000"),
         row("999,900, a later one", "a_later_one/999900")}};
}

Table stall() {
    const auto row = [](const std::string& label, const std::string& name, bool beside) -> Row {
        const auto values =
            std::vector<Counter>{{"requests", kCount}} + waits() +
            std::vector<Counter>{{"MB_resting", kMegabytes},
                                 {"MB_most", kMegabytes},
                                 beside ? Counter{"commands", kCount} : Counter{"MB_after", kMegabytes}};
        Row one{label, counters("stall_bench", name + "/jobs:100000/seconds:40", values)};
        one.cells.insert(beside ? one.cells.end() - 1 : one.cells.end(), nothing());
        return one;
    };
    return {"stall",
            1,
            {row("reads nothing", "others_wait/nothing_is_read", false),
             row("reads everything", "others_wait/all_is_read", false),
             row("asks for explanations", "others_wait_beside/explanations", true),
             row("asks for records", "others_wait_beside/records", true)}};
}

Row longest_wait(const std::string& label, const std::string& name,
                 const std::vector<std::string>& arguments) {
    return {label, over("configuration_bench", name, arguments, "ms_most", {kMs})};
}

Table configuration() {
    const std::vector<std::string> kinds{"nodes", "policies", "time_windows"};
    return {"configuration",
            1,
            {longest_wait("import of new objects", "import/{}/10000", kinds),
             longest_wait("rollback", "rollback/{}/10000", kinds),
             longest_wait("import of existing objects", "import_again/{}/10000", kinds),
             longest_wait("export", "export_now/{}/10000", kinds),
             longest_wait("export of an older revision", "export_past/{}/10000", kinds),
             longest_wait("`print ... @default`", "directive/print_{}/10000", {"nodes", "policies", ""})}};
}

Table requests() {
    return {
        "requests",
        1,
        {longest_wait("`pbs_config history`, 10,000 revisions (at most 1,000 rows a reply)", "history/{}",
                      {"10000"}),
         longest_wait("`set node @default comment=x`, 4,000 nodes", "directive/{}/4000", {"change_nodes"}),
         longest_wait("`set queue @default Priority=5`, 4,000 queues", "directive/{}/4000",
                      {"change_queues"}),
         longest_wait("`set server non_work_days`", "directive/{}/4000", {"change_non_work_days"})}};
}

Table migration() {
    const std::vector<std::string> sizes{"100", "4000"};
    return {"migration",
            1,
            {longest_wait("the migration", "migration/first/{}", sizes),
             longest_wait("`--dry-run`", "migration/dry_run/{}", sizes),
             longest_wait("again, with everything in place", "migration/again/{}", sizes)}};
}

Table objects_rates() {
    const auto row = [](const std::string& label, const std::string& socket, const std::string& tcp) -> Row {
        return {label, over("objects_bench", "{}", {socket, tcp}, "items_per_second", {kPerSecond})};
    };
    return {"objects-rates",
            3,
            {row("create by qmgr", "directives/create", ""),
             row("set by qmgr, 1,000 objects", "directives/set", ""),
             row("create ahead", "create_ahead/socket", "create_ahead/tcp"),
             row("set ahead, 1 object", "set_ahead/socket/1", ""),
             row("set ahead, 1,000 objects", "set_ahead/socket/1000", "set_ahead/tcp/1000"),
             row("set ahead, 10,000 objects", "set_ahead/socket/10000", ""),
             row("create one by one", "create_one_by_one/socket", "create_one_by_one/tcp"),
             row("set one by one, 1,000 objects", "set_one_by_one/socket/1000", "set_one_by_one/tcp/1000"),
             row("set one by one, 10,000 objects", "set_one_by_one/socket/10000", ""),
             row("16 clients, create", "many_clients/create_socket", "many_clients/create_tcp"),
             row("16 clients, set", "many_clients/set_socket", "many_clients/set_tcp")}};
}

Table objects_times() {
    const auto row = [](const std::string& label, const std::string& name) -> Row {
        return {label, over("objects_bench", name, {"1", "1000", "10000"}, kReal, {kMilliseconds})};
    };
    return {"objects-times",
            3,
            {row("stat of policies, socket", "stat_objects/policy_socket/{}"),
             row("stat of policies, TCP", "stat_objects/policy_tcp/{}"),
             row("stat of time_windows, socket", "stat_objects/time_window_socket/{}"),
             Row{"qmgr's start alone",
                 {cell("objects_bench", "start_of_qmgr", kReal, kMilliseconds), nothing(), nothing()}},
             row("`list policy`", "list_command/policy/{}"),
             row("`list time_window`", "list_command/time_window/{}")}};
}

Table switches() {
    const auto row = [](const std::string& label, const std::string& what) -> Row {
        std::vector<Counter> values;
        for (const char* part : {"50%", "90%", "99%", "max"})
            values.push_back({fmt::format("{}_us_{}", what, part), kUsAsMs});
        return {label, counters("switch_bench", "lateness/policy/1000/300", values)};
    };
    return {
        "switches",
        1,
        {row("prime time with another policy, the timer", "timer"), row("the end of the cycle", "cycle")}};
}

Table questions() {
    const auto row = [](const std::string& name, const Print& print) -> Row {
        return {name, over("rrule_bench", name + "/{}", {"10", "100", "1000", "10000"}, kCpu, {print})};
    };
    return {"questions",
            3,
            {row("InsideNow", kNanoseconds), row("NextChangeNow", kNanoseconds),
             row("InsideAnyTime", kNanoseconds), row("NextChangeAnyTime", kNanoseconds),
             row("InsideAUnion", kNanoseconds), row("CompileAYear", kMilliseconds),
             row("CompileAYearOfAUnion", kMilliseconds), row("Parse", kMilliseconds),
             row("ReadAgainAfterOneChange", kMilliseconds)}};
}

Table compared_windows() {
    const auto row = [](const std::string& label, const std::string& family, bool all_changed) -> Row {
        return {label, over("rrule_bench", "OneOfAQueue/{}",
                            {family + "/10", family + "/300", all_changed ? family + "_all_changed/300" : ""},
                            kCpu, {kMilliseconds})};
    };
    return {"compared-windows",
            3,
            {row("one day a year each", "one_a_year", true), row("DAILY with INTERVAL", "in_turns", false),
             row("HOURLY with INTERVAL", "hours", true),
             row("29 February and a weekday, INTERVAL 3 to 601", "leap_days", true),
             row("BYWEEKNO with BYSETPOS, INTERVAL 1 or 7", "weeks", false),
             row("874 EXDATEs each", "removed", false), row("six time zones", "zones", true),
             row("two time zones, INTERVAL 11 to 310", "odd_zones", false)}};
}

Table profiles() {
    const std::vector<std::string> sizes{"100", "1000", "10000", "100000"};
    const auto row = [&](const std::string& label, const std::string& name,
                         const std::vector<Print>& prints = {kMicroseconds}) -> Row {
        return {label, over("timeline_bench", name, sizes, kCpu, prints)};
    };
    return {"profiles",
            3,
            {row("MakeProfile", "MakeProfile/{}", {kMicroseconds, kMicroseconds, kMilliseconds}),
             row("DebitAndCredit", "DebitAndCredit/{}"), row("Earliest, 1 %", "Earliest/{}/1"),
             row("Earliest, 50 %", "Earliest/{}/50"), row("MaxInAnHour", "MaxInAnHour/{}")}};
}

Table reservations() {
    const auto row = [](const std::string& label, const std::string& nodes) -> Row {
        return {label, over("timeline_bench", "Reservations/running:10000/nodes:" + nodes + "/depth:{}",
                            {"0", "1", "2", "3"}, kCpu, {kMilliseconds})};
    };
    return {"reservations",
            3,
            {row("of 1 vnode", "1"), row("of 30 vnodes", "30"), row("of 3,000 vnodes", "3000")}};
}

Table simulations() {
    const auto row = [](const std::string& label, const std::string& policy,
                        const std::string& vnodes) -> Row {
        return {label, over("simulate_bench", policy + "/jobs:{}/vnodes:" + vnodes,
                            {"1000", "100000", "1000000"}, "starts", {{.digits = 3}})};
    };
    return {
        "simulations",
        3,
        {row("Origin, 64 vnodes", "Origin", "64"), row("Origin, 1,000 vnodes", "Origin", "1000"),
         row("Standard, 64 vnodes", "Standard", "64"), row("Standard, 1,000 vnodes", "Standard", "1000")}};
}

Table overloaded() {
    return {
        "overloaded",
        3,
        {{"Standard, overloaded, 64 vnodes", over("simulate_bench", "StandardOverloaded/jobs:{}/vnodes:64",
                                                  {"1000", "60000"}, "starts", {{.digits = 3}})}}};
}

Table loaded() {
    const auto row = [](const std::string& label, const std::string& policy,
                        const std::string& most = "200000") -> Row {
        return {label, over("simulate_bench", "Loaded/" + policy + "/jobs:{}", {"1000", "20000", most},
                            "starts", {{.digits = 2}})};
    };
    return {"loaded",
            1,
            {row("by_queue", "by_queue"), row("strict_ordering, backfill_depth=1", "strict_1"),
             row("strict_ordering, backfill_depth=100", "strict_100", ""), row("shares", "fair_share"),
             row("Origin, past usage", "past_usage")}};
}

Table archive() {
    const auto row = [](const std::string& label, const std::string& log, const std::string& jobs) -> Row {
        return {label, over("simulate_bench", "Archive/" + log + "/jobs:{}", {"1000", jobs}, "starts",
                            {{.digits = 2}})};
    };
    return {"archive",
            1,
            {row("CTC SP2", "CTC_SP2", "77222"), row("KTH SP2", "KTH_SP2", "28476"),
             row("SDSC SP2", "SDSC_SP2", "59715"), row("SDSC BLUE", "SDSC_BLUE", "243306"),
             row("ANL Intrepid", "ANL_Intrepid", "68936")}};
}

}  // namespace

const std::vector<Table>& all_tables() {
    static const std::vector<Table> tables{
        summary(),       cycle(),         estimates(),  events(),           quotas(),
        openpbs(),       queue(),         starts(),     external(),         latency(),
        stall(),         configuration(), requests(),   migration(),        objects_rates(),
        objects_times(), switches(),      questions(),  compared_windows(), profiles(),
        reservations(),  simulations(),   overloaded(), loaded(),           archive()};
    return tables;
}

std::string why_not_here(const std::string& program) {
    if (program != "openpbs_bench" || std::getenv("PBSPOLICY_OPENPBS_PREFIX") != nullptr) return {};
    return "PBSPOLICY_OPENPBS_PREFIX isn't set";
}

bool uses_its_build(const std::string& program) {
    static const std::set<std::string> alone{"cycle_bench", "rrule_bench", "simulate_bench",
                                             "timeline_bench"};
    return !alone.contains(program);
}

}  // namespace pbs::bench
