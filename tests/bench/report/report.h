// What bench_report does: it lists, checks and rewrites the tables of docs/benchmarks.md, and compares two
// builds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tests/bench/report/tables.h"

namespace pbs::bench {

// A cell with its place in the document.
struct Place {
    const Table* table;
    const Row* row;
    std::size_t column;  // from 0 on, the first one behind the label

    const Cell& cell() const { return row->cells[column]; }
    // Such as "cycle, FullCycle, cycle_bench FullCycle/10000".
    std::string text() const;
};

struct Settings {
    std::filesystem::path build;  // whose benchmarks run
    std::string only;             // the name of a table, or a regular expression for Place::text()
    int rounds = 0;               // 0: those of the tables
    double min_time = 0;          // Google Benchmark's, in seconds; 0: the default
};

using Done = tl::expected<void, std::string>;

// Returns the measured cells that `only` selects. The error says that it selects none, or is no regular
// expression.
tl::expected<std::vector<Place>, std::string> selected(const std::string& only);

// Prints the selected cells, one a line.
Done list(const Settings& settings);

// Checks that each measured cell names a benchmark of the build, that the document has the tables, rows and
// columns of all_tables() and no others, and that each other table is said to be an occasional measurement.
// The error has all differences.
Done check(const Settings& settings, const std::filesystem::path& document);

// Measures the selected cells and writes them into the document, after each benchmark, and also into other
// cells that state the same value. Leaves everything else as it is.
Done write(const Settings& settings, const std::filesystem::path& document);

// Runs the selected benchmarks of two builds in turn and prints both. Settings::build isn't used.
Done compare(const Settings& settings, const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace pbs::bench
