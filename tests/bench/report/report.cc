#include "tests/bench/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/bench/report/document.h"
#include "tests/file_text.h"

namespace pbs::bench {
namespace fs = std::filesystem;

namespace {

constexpr int kRoundsOfComparison = 5;

tl::unexpected<std::string> wrong(std::string why) {
    return tl::unexpected(std::move(why));
}

// ---- Benchmarks and the cells that they fill ----

struct Task {
    Benchmark benchmark;
    std::vector<Place> places;
    int rounds = 1;
};

// Returns the runs of a benchmark: the largest number of the tables that have it, selected or not.
int rounds_of(const Benchmark& benchmark) {
    int rounds = 1;
    for (const Table& table : all_tables())
        for (const Row& row : table.rows)
            if (std::ranges::find(row.cells, benchmark, &Cell::benchmark) != row.cells.end())
                rounds = std::max(rounds, table.rounds);
    return rounds;
}

// Adds the cells that state the same values as the selected ones.
std::vector<Place> with_same_values(const std::vector<Place>& places) {
    std::vector<Place> all;
    const auto every = selected("");
    for (const Place& place : *every)
        if (std::ranges::any_of(places, [&](const Place& one) {
                return one.cell().benchmark == place.cell().benchmark &&
                       one.cell().value == place.cell().value;
            }))
            all.push_back(place);
    return all;
}

// Collects the cells of each benchmark, so that it runs once for all. `rounds` and Settings::rounds, which
// comes first, are in place of the tables' numbers unless they are 0. Says which programs can't measure here.
std::vector<Task> tasks_of(const std::vector<Place>& places, const Settings& settings, int rounds) {
    std::vector<Task> tasks;
    std::set<std::string> skipped;
    for (const Place& place : places) {
        const Benchmark& benchmark = place.cell().benchmark;
        if (const std::string why = why_not_here(benchmark.program); !why.empty()) {
            if (skipped.insert(benchmark.program).second)
                fmt::print("{} is skipped: {}\n", benchmark.program, why);
            continue;
        }
        auto task = std::ranges::find(tasks, benchmark, &Task::benchmark);
        if (task == tasks.end())
            task = tasks.insert(tasks.end(), {benchmark,
                                              {},
                                              settings.rounds > 0 ? settings.rounds
                                              : rounds > 0        ? rounds
                                                                  : rounds_of(benchmark)});
        task->places.push_back(place);
    }
    return tasks;
}

std::string name_of(const Benchmark& benchmark) {
    return fmt::format("{} {}{}", benchmark.program, benchmark.name,
                       benchmark.tmp.empty() ? "" : " in " + benchmark.tmp);
}

// The results of several runs of a benchmark.
class Series {
  public:
    Done add(const fs::path& build, const Benchmark& benchmark, double min_time) {
        auto result = run_once(build, benchmark, min_time);
        if (!result) return wrong(result.error());
        results_.push_back(std::move(*result));
        return {};
    }
    tl::expected<Runs, std::string> of(const std::string& value) const {
        std::vector<double> numbers;
        for (const Result& one : results_) {
            const auto number = one.value(value);
            if (!number) return wrong(number.error());
            numbers.push_back(*number);
        }
        return summary_of(std::move(numbers));
    }

  private:
    std::vector<Result> results_;
};

// ---- Documents ----

tl::expected<Document, std::string> read(const fs::path& path) {
    const std::string text = test::file_text(path);
    if (text.empty()) return wrong(fmt::format("{} can't be read, or is empty", path.string()));
    auto document = Document::parse(text);
    if (!document) return wrong(fmt::format("{}, {}", path.string(), document.error()));
    return document;
}

// Replaces a file as a whole.
Done replace(const fs::path& path, const std::string& text) {
    const fs::path beside = path.string() + ".new";
    std::ofstream file(beside, std::ios::binary);
    file << text;
    file.close();
    std::error_code error;
    if (file) fs::rename(beside, path, error);
    if (!file || error) return wrong(fmt::format("{} can't be written", path.string()));
    return {};
}

// Returns why the document has no such cell; empty: it has.
std::string missing(const Document& document, const Place& place) {
    const TableText* table = document.find(place.table->name);
    if (table == nullptr) return fmt::format("no marker <!-- table: {} -->", place.table->name);
    const auto row = std::ranges::find(table->rows, place.row->label, &TableText::Row::label);
    if (row == table->rows.end())
        return fmt::format("the table {} has no row {}", table->name, place.row->label);
    if (place.column >= row->cells.size())
        return fmt::format("the table {} has only {} columns", table->name, row->cells.size() + 1);
    return {};
}

// Compares a table's rows with the document's, in their order.
void compare_rows(const Table& table, const TableText& text, std::vector<std::string>& found) {
    for (std::size_t i = 0; i < std::max(table.rows.size(), text.rows.size()); ++i) {
        const std::string ours = i < table.rows.size() ? table.rows[i].label : "none";
        const std::string theirs = i < text.rows.size() ? text.rows[i].label : "none";
        if (ours != theirs) {
            found.push_back(fmt::format("line {}: row {} of {} is {}, and in tables.cc {}", text.line + i + 3,
                                        i + 1, table.name, theirs, ours));
            return;
        }
        const std::vector<Cell>& cells = table.rows[i].cells;
        const std::vector<std::string>& texts = text.rows[i].cells;
        if (cells.size() != texts.size())
            found.push_back(fmt::format("line {}: {} has {} columns, and in tables.cc {}", text.line + i + 3,
                                        ours, texts.size(), cells.size()));
        for (std::size_t k = 0; k < std::min(cells.size(), texts.size()); ++k)
            if (!cells[k].measured() && !cells[k].kept && !texts[k].empty())
                found.push_back(fmt::format("line {}: nothing measures \"{}\"", text.line + i + 3, texts[k]));
    }
}

void check_document(const Document& document, std::vector<std::string>& found) {
    for (const Table& table : all_tables()) {
        if (const TableText* text = document.find(table.name))
            compare_rows(table, *text, found);
        else
            found.push_back(fmt::format("no marker <!-- table: {} -->", table.name));
    }
    for (const TableText& text : document.tables()) {
        if (text.name.empty() && text.before.find("ccasional measurement") == std::string::npos)
            found.push_back(
                fmt::format("line {}: a table without a marker, and the paragraph before it "
                            "doesn't say that it is an occasional measurement",
                            text.line + 1));
        if (!text.name.empty() &&
            std::ranges::find(all_tables(), text.name, &Table::name) == all_tables().end())
            found.push_back(fmt::format("line {}: nothing measures the table {}", text.line + 1, text.name));
    }
}

void check_benchmarks(const fs::path& build, std::vector<std::string>& found) {
    std::map<std::string, std::set<std::string>> names;
    const auto places = selected("");
    for (const Place& place : *places) {
        const auto& [program, name, tmp] = place.cell().benchmark;
        if (!names.contains(program)) {
            const auto listed = names_in(build, program);
            if (!listed) found.push_back(listed.error());
            names[program] = listed ? std::set(listed->begin(), listed->end()) : std::set<std::string>{};
        }
        if (!names[program].empty() && !names[program].contains(name))
            found.push_back(fmt::format("{}: there is no such benchmark", place.text()));
    }
}

// ---- Comparisons ----

// Returns why the build can't be compared; empty: it can. A benchmark of a server starts the server of the
// folder in which it was built.
std::string why_not_comparable(const fs::path& build, const std::vector<Task>& tasks) {
    std::error_code error;
    const fs::path real = fs::canonical(build, error);
    if (error) return fmt::format("{}: {}", build.string(), error.message());
    static const std::regex line(R"((?:^|\n)CMAKE_CACHEFILE_DIR:INTERNAL=(.*))");
    std::smatch match;
    const std::string cache = test::file_text(real / "CMakeCache.txt");
    if (!std::regex_search(cache, match, line) || fs::equivalent(match[1].str(), real, error)) return {};
    for (const Task& task : tasks)
        if (uses_its_build(task.benchmark.program))
            return fmt::format("{} was built as {}: its {} would run the programs there", build.string(),
                               match[1].str(), task.benchmark.program);
    return {};
}

std::string percent(double part) {
    return fmt::format("{:.0f} %", part * 100);
}

void print_head() {
    fmt::print("{:<14} {:<52} {:>13} {:>13} {:>6} {:>11} {:>11} {:>7} {:>7}\n", "table", "benchmark, value",
               "median A", "median B", "B/A", "least A", "least B", "IQR A", "IQR B");
}

void print_comparison(const Place& place, const Runs& one, const Runs& other, int rounds) {
    const Cell& cell = place.cell();
    const auto text = [&](double number) {
        return figure_text(number, {cell.print.scale, 3, cell.print.format});
    };
    const std::string ratio = one.median == 0 ? "-" : fmt::format("{:.2f}", other.median / one.median);
    fmt::print("{:<14} {:<52} {:>13} {:>13} {:>6} {:>11} {:>11} {:>7} {:>7}{}\n", place.table->name,
               cell.benchmark.name + ", " + cell.value, text(one.median), text(other.median), ratio,
               text(one.least), text(other.least), percent(one.spread()), percent(other.spread()),
               differ(one, other, rounds) ? " *" : "");
}

Done compare_one(const Task& task, const Settings& settings, const fs::path& one, const fs::path& other) {
    Series series[2];
    for (int round = 0; round < task.rounds; ++round)
        for (const bool first : {true, false}) {
            const bool b = (round % 2 == 0) != first;  // A B B A A B ...
            if (auto done = series[b].add(b ? other : one, task.benchmark, settings.min_time); !done)
                return wrong(fmt::format("{}: {}", (b ? other : one).string(), done.error()));
        }
    for (const Place& place : task.places) {
        const auto a = series[0].of(place.cell().value);
        const auto b = series[1].of(place.cell().value);
        if (!a || !b) return wrong(fmt::format("{}: {}", place.text(), (a ? b : a).error()));
        print_comparison(place, *a, *b, task.rounds);
    }
    return {};
}

}  // namespace

std::string Place::text() const {
    return fmt::format("{}, {}, {}", table->name, row->label, name_of(cell().benchmark));
}

tl::expected<std::vector<Place>, std::string> selected(const std::string& only) {
    const bool is_table = std::ranges::find(all_tables(), only, &Table::name) != all_tables().end();
    std::regex pattern;
    try {
        pattern = std::regex(only);
    } catch (const std::regex_error& error) {
        return wrong(fmt::format("--only {}: {}", only, error.what()));
    }
    std::vector<Place> places;
    for (const Table& table : all_tables())
        for (const Row& row : table.rows)
            for (std::size_t column = 0; column < row.cells.size(); ++column) {
                const Place place{&table, &row, column};
                if (!place.cell().measured()) continue;
                if (is_table ? table.name == only : std::regex_search(place.text(), pattern))
                    places.push_back(place);
            }
    if (places.empty()) return wrong(fmt::format("--only {} selects nothing", only));
    return places;
}

Done list(const Settings& settings) {
    const auto places = selected(settings.only);
    if (!places) return wrong(places.error());
    for (const Place& place : *places) {
        const int rounds = rounds_of(place.cell().benchmark);
        fmt::print("{}, {}, as \"{}\", {} {}\n", place.text(), place.cell().value, place.cell().print.format,
                   rounds, rounds == 1 ? "run" : "runs");
    }
    return {};
}

Done check(const Settings& settings, const fs::path& path) {
    const auto document = read(path);
    if (!document) return wrong(document.error());
    std::vector<std::string> found;
    check_document(*document, found);
    check_benchmarks(settings.build, found);
    if (!found.empty()) return wrong(fmt::format("{}\n", fmt::join(found, "\n")));
    return {};
}

Done write(const Settings& settings, const fs::path& path) {
    const auto chosen = selected(settings.only);
    if (!chosen) return wrong(chosen.error());
    const std::vector<Place> places = with_same_values(*chosen);
    auto document = read(path);
    if (!document) return wrong(document.error());
    for (const Place& place : places)
        if (const std::string why = missing(*document, place); !why.empty())
            return wrong(fmt::format("{}: {}", path.string(), why));
    const std::vector<Task> tasks = tasks_of(places, settings, 0);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        Series series;
        for (int round = 0; round < tasks[i].rounds; ++round)
            if (auto done = series.add(settings.build, tasks[i].benchmark, settings.min_time); !done)
                return done;
        for (const Place& place : tasks[i].places) {
            const auto runs = series.of(place.cell().value);
            if (!runs) return wrong(fmt::format("{}: {}", place.text(), runs.error()));
            const std::string text = figure_text(*runs, place.cell().print);
            fmt::print("{} of {}: {}, {}: {}\n", i + 1, tasks.size(), place.text(), place.cell().value, text);
            document->set(place.table->name, place.row->label, place.column, text);
        }
        std::fflush(stdout);
        if (auto done = replace(path, document->text()); !done) return done;
    }
    return {};
}

Done compare(const Settings& settings, const fs::path& one, const fs::path& other) {
    const auto places = selected(settings.only);
    if (!places) return wrong(places.error());
    const std::vector<Task> tasks = tasks_of(*places, settings, kRoundsOfComparison);
    for (const fs::path& build : {one, other})
        if (const std::string why = why_not_comparable(build, tasks); !why.empty()) return wrong(why);
    print_head();
    for (const Task& task : tasks) {
        if (auto done = compare_one(task, settings, one, other); !done) return done;
        std::fflush(stdout);
    }
    fmt::print("A: {}\nB: {}\n* The medians differ by more than the quartiles (IQR) of either.\n",
               one.string(), other.string());
    return {};
}

}  // namespace pbs::bench
