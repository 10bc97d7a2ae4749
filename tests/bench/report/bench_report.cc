// The program bench_report: measures what docs/benchmarks.md states, and compares two builds.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/report/report.h"

namespace {

using namespace pbs::bench;  // NOLINT(google-build-using-namespace): this is a program

constexpr int kFailed = 2;

struct Arguments {
    Settings settings;
    bool list = false;
    std::string check;
    std::string write;
    std::vector<std::string> compare;
};

// The build that this program belongs to.
std::string own_build() {
    return std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().parent_path();
}

void add_options(CLI::App& app, Arguments& arguments) {
    auto* modes = app.add_option_group("modes", "One of these");
    auto* list = modes->add_flag("--list", arguments.list, "List what is measured, one figure a line");
    auto* check = modes->add_option(
        "--check", arguments.check,
        "Check without measuring that the tables of FILE and those of this program agree, and "
        "that the benchmarks exist");
    check->type_name("FILE");
    modes
        ->add_option(
            "--write", arguments.write,
            "Measure, and write the figures into the marked tables of FILE, wherever they state them")
        ->type_name("FILE");
    auto* compare = modes->add_option(
        "--compare", arguments.compare,
        "Run the benchmarks of two build folders in turn, and print medians, the least, the "
        "range between the quartiles, and B/A");
    compare->type_name("A B")->expected(2);
    modes->require_option(1);
    app.add_option("--only", arguments.settings.only,
                   "Only the table of this name, or the lines of --list in which this regular expression is "
                   "found")
        ->type_name("TABLE|REGEX")
        ->excludes(check);
    app.add_option("--rounds", arguments.settings.rounds,
                   "Run each benchmark so often, in place of the table's number, or of 5 for --compare")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->excludes(list)
        ->excludes(check);
    app.add_option("--min-time", arguments.settings.min_time,
                   "Repeat short benchmarks for so many seconds (Google Benchmark's --benchmark_min_time)")
        ->type_name("SECONDS")
        ->check(CLI::PositiveNumber)
        ->excludes(list)
        ->excludes(check);
    app.add_option("--build", arguments.settings.build,
                   "The build whose benchmarks run, in place of that of this program")
        ->type_name("FOLDER")
        ->excludes(list)
        ->excludes(compare);
}

Done run(const Arguments& arguments) {
    if (arguments.list) return list(arguments.settings);
    if (!arguments.check.empty()) return check(arguments.settings, arguments.check);
    if (!arguments.write.empty()) return write(arguments.settings, arguments.write);
    return compare(arguments.settings, arguments.compare.at(0), arguments.compare.at(1));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Arguments arguments;
        CLI::App app("Measures what docs/benchmarks.md states, and compares two builds.", "bench_report");
        app.footer("The exit status is 0 even if a build is slower; 2 says that something has failed.");
        add_options(app, arguments);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? 0 : kFailed;
        }
        if (arguments.settings.build.empty()) arguments.settings.build = own_build();
        const Done done = run(arguments);
        if (done) return 0;
        fmt::print(stderr, "bench_report: {}\n", done.error());
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_report: {}\n", error.what());
    }
    return kFailed;
}
