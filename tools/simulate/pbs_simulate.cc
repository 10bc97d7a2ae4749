// The program pbs_simulate: runs the jobs of a trace through the real scheduling cycle, with a clock that
// jumps to the next event.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "objects/value.h"
#include "tools/simulate/accounting.h"
#include "tools/simulate/ask.h"
#include "tools/simulate/engine.h"
#include "tools/simulate/external.h"
#include "tools/simulate/files.h"
#include "tools/simulate/moldable.h"
#include "tools/simulate/plot.h"
#include "tools/simulate/progress.h"
#include "tools/simulate/report.h"
#include "tools/simulate/swf.h"
#include "tools/simulate/usage.h"
#include "tools/simulate/variant.h"
#include "values/mutex.h"
#include "values/number.h"
#include "values/text.h"

namespace {

using namespace pbs::simulate;  // NOLINT(google-build-using-namespace): this is a program
namespace fs = std::filesystem;

constexpr int kFailed = 2;

constexpr const char* kDescription =
    "Runs the jobs of a trace through the scheduling cycle of PBS, by a clock that jumps from one event to "
    "the\n"
    "next, and reports utilisation, wait times and bounded slowdown: of one policy, or of two side by side.";
constexpr const char* kFooter =
    "A POLICY is what `set sched default policy=` takes (\"day\", \"day,np:night\"), or a file that changes "
    "the\n"
    "configuration: directives of qmgr, or a document of pbs_config export.\n"
    "Exit status: 0 done, 1 wrong usage, 2 failed (the reason is on standard error).";

struct Arguments {
    std::string swf;
    std::vector<std::string> accounting;
    std::string days;
    std::string config;
    std::optional<std::string> server;
    std::string usage;
    std::string policy;
    std::vector<std::string> compare;
    std::string external;
    std::int64_t external_timeout = 60;
    std::int64_t nodes = 0;
    std::int64_t cpus = 0;
    std::string mem;
    std::vector<std::string> queues;
    std::string time_zone;
    std::int64_t cycle_interval = 1;
    bool checkpoint = false;
    std::string load_model;
    std::string moldable;
    std::size_t users = 20;
    bool json = false;
    std::string svg;
    bool timing = false;
};

// Writes to standard error. A simulation goes on if that can't be written.
void tell(const std::string& text) {
    (void)std::fputs(text.c_str(), stderr);
}

int fail(const std::string& message) {
    tell(fmt::format("pbs_simulate: {}\n", message));
    return kFailed;
}

// Reads pairs of a queue's number in the trace and its name: "4=long".
Result<std::map<std::int64_t, std::string>> queue_names(const std::vector<std::string>& texts) {
    std::map<std::int64_t, std::string> names;
    for (const std::string& text : texts) {
        const auto equals = text.find('=');
        const auto number = pbs::values::number<std::int64_t>(std::string_view(text).substr(0, equals));
        if (!number || equals == text.npos || equals + 1 == text.size())
            return tl::unexpected(
                fmt::format("--queue: found '{}', expected NUMBER=NAME, as in 4=long", text));
        names[*number] = text.substr(equals + 1);
    }
    return names;
}

Result<Trace> read_trace(const Arguments& arguments) {
    if (!arguments.swf.empty()) {
        const auto names = queue_names(arguments.queues);
        if (!names) return tl::unexpected(names.error());
        const auto text = read_file(arguments.swf);
        if (!text) return tl::unexpected(text.error());
        auto trace = read_swf(*text, arguments.swf, {*names});
        if (trace && !arguments.moldable.empty())
            make_moldable(*trace, *pbs::values::decimal(arguments.moldable));
        return trace;
    }
    if (!arguments.days.empty()) {
        const auto dash = std::min(arguments.days.find('-'), arguments.days.size());
        const std::string first = arguments.days.substr(0, dash);
        const std::string last = dash < arguments.days.size() ? arguments.days.substr(dash + 1) : first;
        const auto logs = ask_accounting(*arguments.server, first, last);
        if (!logs) return tl::unexpected(logs.error());
        return read_accounting(*logs);
    }
    std::vector<LogText> logs;
    for (const std::string& file : arguments.accounting) {
        auto text = read_file(file);
        if (!text) return tl::unexpected(text.error());
        logs.push_back({file, *std::move(text)});
    }
    return read_accounting(logs);
}

// Chooses the zone: that of --time-zone, else the server's, else the trace's, else this machine's.
Result<pbs::rrule::Zone> choose_zone(const Arguments& arguments, const std::string& of_server, Trace& trace) {
    if (!arguments.time_zone.empty()) {
        auto zone = pbs::rrule::Zone::find(arguments.time_zone);
        if (!zone)
            return tl::unexpected(fmt::format(
                "--time-zone: found '{}', expected a name such as Europe/Berlin", arguments.time_zone));
        return *zone;
    }
    for (const std::string& name : {of_server, trace.time_zone}) {
        if (name.empty()) continue;
        if (auto zone = pbs::rrule::Zone::find(name)) return *zone;
        trace.notes.push_back(fmt::format("{} is no time zone that this machine knows.", name));
    }
    auto zone = pbs::rrule::Zone::system();
    if (!zone) return tl::unexpected(zone.error().message);
    return std::move(*zone);
}

Result<void> choose_nodes(const Arguments& arguments, const Trace& trace, Machine& machine) {
    std::int64_t mem = 0;
    if (!arguments.mem.empty()) {
        const auto size = pbs::objects::parse_size("--mem", arguments.mem);
        if (!size) return tl::unexpected(size.error().message);
        mem = size->bytes;
    }
    if (arguments.nodes > 0 || arguments.cpus > 0) {
        const std::int64_t nodes = std::max<std::int64_t>(1, arguments.nodes);
        machine.nodes.clear();
        add_nodes(machine, nodes, nodes * std::max<std::int64_t>(1, arguments.cpus), mem);
        return {};
    }
    if (mem != 0) return tl::unexpected(std::string("--mem is of each vnode: it needs --nodes or --cpus"));
    if (!machine.nodes.empty()) return {};
    const std::int64_t cpus = trace.max_cpus > 0 ? trace.max_cpus : trace.max_nodes;
    if (cpus == 0)
        return tl::unexpected(fmt::format(
            "{} doesn't say how large the machine was (MaxProcs): expected --nodes and --cpus, or a "
            "configuration with nodes",
            trace.name));
    constexpr std::int64_t kMostNodes = 1'000'000;
    const std::int64_t nodes = trace.max_nodes > 0 ? std::min(trace.max_nodes, cpus) : 1;
    if (nodes > kMostNodes)
        return tl::unexpected(
            fmt::format("{}: MaxNodes: found {}, expected at most {}", trace.name, nodes, kMostNodes));
    add_nodes(machine, nodes, cpus, 0);
    return {};
}

Result<Site> read_site(const Arguments& arguments, Trace& trace) {
    Site site;
    site.trace_queues = trace.queues.all();
    std::string zone_name;
    if (!arguments.config.empty()) {
        auto text = read_file(arguments.config);
        if (!text) return tl::unexpected(text.error());
        site.document = *std::move(text);
        site.name = arguments.config;
    } else if (arguments.server) {
        auto answer = ask_server(*arguments.server);
        if (!answer) return tl::unexpected(answer.error());
        site.document = std::move(answer->document);
        site.name = "the server's configuration";
        zone_name = std::move(answer->time_zone);
    }
    if (!site.document.empty()) {
        auto machine = read_machine(site.document, site.name);
        if (!machine) return tl::unexpected(machine.error());
        site.machine = *std::move(machine);
    }
    if (auto done = choose_nodes(arguments, trace, site.machine); !done) return tl::unexpected(done.error());
    auto zone = choose_zone(arguments, zone_name, trace);
    if (!zone) return tl::unexpected(zone.error());
    site.zone = *std::move(zone);
    return site;
}

// Makes a variant from an argument, which is a list of policies, or the name of a file with changes.
Result<Variant> read_variant(const Site& site, const std::string& argument, bool by_program) {
    if (argument.empty()) return variant_of_policies(site, {}, by_program);
    const auto policies = names_policies(site, argument);
    if (!policies) return tl::unexpected(policies.error());
    std::error_code ignored;
    if (!*policies && fs::exists(argument, ignored)) {
        auto text = read_file(argument);
        if (!text) return tl::unexpected(text.error());
        return variant_of_changes(site, {argument, *std::move(text)}, by_program);
    }
    if (!*policies)
        return tl::unexpected(
            fmt::format("'{}': expected a policy of the configuration (or several, as in day,np:night), or a "
                        "file with changes to it",
                        argument));
    return variant_of_policies(site, argument, by_program);
}

// Returns the name of the program that a command starts: "fifo" for "/opt/bin/fifo --fast".
std::string program_name(const std::string& command) {
    const std::string first = command.substr(0, command.find_first_of(" \t\n"));
    return fs::path(first).filename().string();
}

// A simulation that the command line asks for.
struct Wanted {
    std::string policy;
    bool by_program = false;  // the program of --external schedules
};

// Lists the simulations that are wanted: one, or two to compare. The program of --external schedules the last
// one.
std::vector<Wanted> wanted_of(const Arguments& arguments) {
    std::vector<Wanted> wanted;
    for (const std::string& policy : arguments.compare) wanted.push_back({policy});
    if (wanted.empty())
        wanted.push_back({arguments.policy});
    else if (wanted.size() == 1)
        wanted.push_back(wanted.front());
    wanted.back().by_program = !arguments.external.empty();
    return wanted;
}

// Returns the width of the terminal at standard error; nullopt: it is none.
std::optional<std::size_t> columns_of_terminal() {
    if (isatty(STDERR_FILENO) == 0) return std::nullopt;
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1U;
    return 79;
}

// Returns the CPU time of this thread, in seconds.
double cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// Reads the usage of shares with which the simulation begins: from the file of --usage, or else from the
// server.
Result<std::vector<ShareUsage>> read_usage(const Arguments& arguments, const Site& site) {
    if (!arguments.usage.empty()) {
        const auto text = read_file(arguments.usage);
        if (!text) return tl::unexpected(text.error());
        return read_share_usage(*text, arguments.usage);
    }
    if (!arguments.server) return std::vector<ShareUsage>();
    std::vector<std::string> scheds = {"default"};
    for (const auto& [name, values] : site.machine.scheds)
        if (name != "default") scheds.push_back(name);
    const auto text = ask_share_usage(*arguments.server, scheds);
    if (!text) return tl::unexpected(text.error());
    return read_share_usage(*text, "the server's usage of shares");
}

// The report of a simulation, and how fast it was, if --timing asks for that.
struct Simulated {
    Report report;
    std::string timing{};
};

Result<Simulated> simulate_variant(const Arguments& arguments, const Trace& trace, const Site& site,
                                   const std::vector<ShareUsage>& usage, Variant variant, bool by_program,
                                   const std::stop_token& stop,
                                   const std::function<void(const Progress&)>& progress) {
    const bool described = !site.machine.queues.empty();
    if (!described) add_named_queues(*variant.snapshot, trace.queues.all(), variant.machine);
    const auto cluster = Cluster::make(variant.machine);
    if (!cluster) return tl::unexpected(cluster.error());
    EngineOptions options;
    options.cycle_interval = Seconds(arguments.cycle_interval);
    options.usage = usage;
    options.checkpoints = arguments.checkpoint;
    options.loads_by_cpus = !arguments.load_model.empty();
    options.stop = stop;
    options.progress = progress;
    std::optional<ExternalScheduler> program;
    if (by_program) {
        auto started =
            ExternalScheduler::start({arguments.external, std::chrono::seconds(arguments.external_timeout),
                                      options.cycle_interval, stop});
        if (!started) return tl::unexpected(started.error());
        options.external = &program.emplace(*std::move(started));
    }
    const auto begun = std::chrono::steady_clock::now();
    const double cpu_begun = cpu_time();
    const auto run = simulate(trace, *cluster, variant.snapshot, site.zone, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const double cpu = cpu_time() - cpu_begun;
    if (!run) return tl::unexpected(fmt::format("{}: {}", variant.title, run.error()));
    Simulated simulated{make_report(variant.title, trace, *run)};
    if (arguments.timing) {
        const auto rate = [&](double seconds) {
            return static_cast<double>(run->started) / std::max(seconds, 1e-9);
        };
        simulated.timing = fmt::format(
            "pbs_simulate: {}: {} and {} in {:.3f} s: {:.0f} starts a second; {:.3f} s "
            "of CPU time: {:.0f} starts a second\n",
            variant.title, pbs::values::counted(run->started, "start"),
            pbs::values::counted(run->cycles, "cycle"), took.count(), rate(took.count()), cpu, rate(cpu));
    }
    return simulated;
}

Result<void> write_pictures(const std::string& where, const Heading& heading,
                            const std::vector<Report>& reports) {
    std::error_code ignored;
    if (!fs::is_directory(where, ignored)) return write_file(where, to_svg(heading, reports));
    for (const Picture& picture : to_pictures(heading, reports))
        if (auto done = write_file((fs::path(where) / picture.name).string(), picture.svg); !done)
            return done;
    return {};
}

// Simulates all variants at the same time. One that a program schedules runs in this thread, which starts the
// program. When one fails, the others stop.
Result<std::vector<Report>> simulate_all(const Arguments& arguments, const Trace& trace, const Site& site,
                                         const std::vector<ShareUsage>& usage, std::vector<Variant> variants,
                                         const std::vector<Wanted>& wanted) {
    std::vector<std::string> titles;
    for (const Variant& variant : variants) titles.push_back(variant.title);
    using Clock = std::chrono::steady_clock;
    ProgressShow show(std::move(titles), site.zone, columns_of_terminal(), Clock::now());
    pbs::values::Mutex showing;
    std::stop_source stop;
    std::string failure;  // written by the one that requests the stop
    const auto simulate_one = [&](std::size_t i) {
        auto simulated =
            simulate_variant(arguments, trace, site, usage, std::move(variants[i]), wanted[i].by_program,
                             stop.get_token(), [&, i](const Progress& progress) {
                                 const pbs::values::Lock lock(showing);
                                 tell(show.note(i, progress, Clock::now()));
                             });
        if (!simulated && stop.request_stop()) failure = simulated.error();
        return simulated;
    };
    // The threads must not take a signal, of which the program would hear nothing.
    std::optional<HeldSignals> held;
    if (std::ranges::any_of(wanted, &Wanted::by_program)) held.emplace();
    std::vector<std::future<Result<Simulated>>> running;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const bool here = wanted[i].by_program || variants.size() == 1;
        // If no thread can be made, it runs here, too.
        const auto how = here ? std::launch::deferred : std::launch::async | std::launch::deferred;
        running.push_back(std::async(how, simulate_one, i));
    }
    for (auto& one : running)
        if (one.wait_for(std::chrono::seconds(0)) == std::future_status::deferred) one.wait();
    held.reset();
    std::vector<Result<Simulated>> done;
    for (auto& one : running) done.push_back(one.get());
    tell(show.end());
    if (stop.stop_requested()) return tl::unexpected(failure);
    std::vector<Report> reports;
    for (Result<Simulated>& one : done) {
        tell(one->timing);
        reports.push_back(std::move(one->report));
    }
    return reports;
}

int run(const Arguments& arguments) {
    auto trace = read_trace(arguments);
    if (!trace) return fail(trace.error());
    if (trace->jobs.empty())
        return fail(fmt::format("{}: no job to simulate, expected at least one that ran", trace->name));
    const auto site = read_site(arguments, *trace);
    if (!site) return fail(site.error());
    const std::vector<Wanted> wanted = wanted_of(arguments);
    std::vector<Variant> variants;
    for (const Wanted& one : wanted) {
        auto variant = read_variant(*site, one.policy, one.by_program);
        if (!variant) return fail(variant.error());
        if (one.by_program) variant->title = program_name(arguments.external);
        for (const std::string& note : variant->notes)
            if (std::ranges::find(trace->notes, note) == trace->notes.end()) trace->notes.push_back(note);
        variants.push_back(*std::move(variant));
    }
    const auto usage = read_usage(arguments, *site);
    if (!usage) return fail(usage.error());
    auto simulated = simulate_all(arguments, *trace, *site, *usage, std::move(variants), wanted);
    if (!simulated) return fail(simulated.error());
    const std::vector<Report> reports = *std::move(simulated);
    for (const ShareUsage& one : *usage) {
        const auto is_same = [&](const ShareReport& shares) {
            return shares.sched == one.sched && shares.group == one.group;
        };
        if (std::ranges::none_of(
                reports, [&](const Report& report) { return std::ranges::any_of(report.shares, is_same); }))
            trace->notes.push_back(
                fmt::format("No policy that is simulated goes by the shares of fs_group {} in sched {}: its "
                            "usage isn't used.",
                            one.group, one.sched));
    }
    const Heading heading = make_heading(*trace, site->zone);
    if (!arguments.svg.empty())
        if (auto done = write_pictures(arguments.svg, heading, reports); !done) return fail(done.error());
    const auto written = write_file(
        "-", arguments.json ? to_json(heading, reports) : to_text(heading, reports, arguments.users));
    return written ? 0 : fail(written.error());
}

// Checks the argument of --days for CLI11: returns the text of an error; empty: it is right.
std::string is_days(const std::string& text) {
    const auto dash = std::min(text.find('-'), text.size());
    for (const std::string& day : {text.substr(0, dash), text.substr(std::min(dash + 1, text.size()))}) {
        const bool last_left_out = day.empty() && dash == text.size();
        if (!last_left_out && (day.size() != 8 || day.find_first_not_of("0123456789") != day.npos))
            return fmt::format("found '{}', expected YYYYMMDD, or two of these with a dash between", text);
    }
    return {};
}

// Checks the argument of --moldable for CLI11, as is_days() does.
std::string is_factor(const std::string& text) {
    const auto factor = pbs::values::decimal(text);
    if (factor && *factor >= 1 && *factor <= 1e6) return {};
    return fmt::format("found '{}', expected a number from 1 to 1000000", text);
}

void add_options(CLI::App& app, Arguments& arguments) {
    auto* swf = app.add_option("--swf", arguments.swf,
                               "A trace in the Standard Workload Format; - for standard input")
                    ->type_name("FILE");
    auto* logs = app.add_option("--accounting", arguments.accounting, "Accounting logs of a PBS server")
                     ->type_name("FILE");
    swf->excludes(logs);
    auto* config =
        app.add_option("--config", arguments.config, "The configuration, as pbs_config export writes it")
            ->type_name("FILE");
    auto* server = app.add_option("--server", arguments.server,
                                  "The configuration of a running server; of the default one without a name")
                       ->type_name("[NAME]")
                       ->expected(0, 1)
                       ->default_str("")
                       ->excludes(config);
    app.add_option("--usage", arguments.usage,
                   "The usage of shares to begin with, as pbs_fairshare -F json writes it; the server's, if "
                   "there is one, without it")
        ->type_name("FILE");
    app.add_option("--days", arguments.days,
                   "The jobs that ended on these days, from the server's own accounting logs, which managers "
                   "and operators may read so")
        ->type_name("YYYYMMDD[-YYYYMMDD]")
        ->check(is_days, "YYYYMMDD[-YYYYMMDD]")
        ->needs(server)
        ->excludes(swf)
        ->excludes(logs);
    auto* policy = app.add_option("--policy", arguments.policy,
                                  "What to simulate; what the configuration assigns if not given")
                       ->type_name("POLICY");
    auto* external = app.add_option("--external", arguments.external,
                                    "A program of yours that schedules over the C API of PBS, as with "
                                    "algorithm=external; a command for the shell")
                         ->type_name("PROGRAM")
                         ->check([](const std::string& text) {
                             return std::string(text.empty() ? "expected a command" : "");
                         });
    app.add_option("--external-timeout", arguments.external_timeout,
                   "How long, in real time, the program may do nothing; 60 if not given")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86400))
        ->needs(external);
    app.add_option("--compare", arguments.compare,
                   "Simulate two, side by side; with --external, the last one by the program, which with one "
                   "is compared with the policy itself")
        ->type_name("POLICY [POLICY]")
        ->expected(1, 2)
        ->excludes(policy);
    app.add_option("--nodes", arguments.nodes,
                   "How many vnodes there are, in place of the configuration's or the trace's")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--cpus", arguments.cpus, "CPUs of each vnode")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--mem", arguments.mem, "Memory of each vnode, such as 64gb")->type_name("SIZE");
    app.add_option("--queue", arguments.queues, "The name of a queue number of the trace")
        ->type_name("NUMBER=NAME")
        ->needs(swf)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--time-zone", arguments.time_zone, "The zone of time windows, such as Europe/Berlin")
        ->type_name("ZONE");
    app.add_option("--cycle-interval", arguments.cycle_interval,
                   "The least time between cycles that jobs cause; 1 if not given")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86400));
    app.add_flag("--checkpoint", arguments.checkpoint,
                 "Jobs can be checkpointed: one that is preempted so keeps what it has done");
    app.add_option("--load-model", arguments.load_model,
                   "Give hosts a load average: cpus, as many as CPUs are in use")
        ->type_name("cpus")
        ->check(CLI::IsMember({"cpus"}));
    app.add_option("--moldable", arguments.moldable,
                   "Let jobs start with fewer processors, down to 1/FACTOR of those that they asked for, and "
                   "run longer")
        ->type_name("FACTOR")
        ->check(is_factor, "FACTOR")
        ->needs(swf);
    app.add_option("--users", arguments.users,
                   "How many users are listed, those with the most CPU time first; 20 if not given, 0: all")
        ->type_name("NUMBER");
    app.add_flag("--json", arguments.json, "Report as JSON");
    app.add_option("--svg", arguments.svg, "Write plots to FILE too, or into a folder")->type_name("FILE");
    app.add_flag("--timing", arguments.timing, "Tell on standard error how fast it was");
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app(kDescription, "pbs_simulate");
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    add_options(app, arguments);
    try {
        app.parse(argc, argv);
        if (arguments.swf.empty() && arguments.accounting.empty() && arguments.days.empty())
            throw CLI::RequiredError("--swf, --accounting or --days");
        if (arguments.compare.size() == 1 && arguments.external.empty())
            throw CLI::ArgumentMismatch("--compare: expected two policies, or one and --external");
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    try {
        return run(arguments);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
