// The tables of docs/benchmarks.md: for each cell, the benchmark and the value that fill it.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/figures.h"
#include "tests/bench/report/measure.h"

namespace pbs::bench {

struct Cell {
    Benchmark benchmark;  // without a program: nothing measures the cell
    std::string value;    // "real_time", "cpu_time", "items_per_second" or a counter
    Print print;
    bool kept = false;  // the cell's text is another program's figure, which was measured once

    bool measured() const { return !benchmark.program.empty(); }
};

struct Row {
    std::string label;
    std::vector<Cell> cells;  // for all columns but the first
};

struct Table {
    std::string name;  // that of the marker
    int rounds = 1;    // the runs of each benchmark; of several tables' numbers the largest counts
    std::vector<Row> rows;
};

// All tables, in the order of the document.
const std::vector<Table>& all_tables();

// Returns why the program can't measure here; empty: it can. openpbs_bench needs an OpenPBS.
std::string why_not_here(const std::string& program);

// Returns whether the program runs other programs of its build, whose folder is compiled in.
bool uses_its_build(const std::string& program);

}  // namespace pbs::bench
