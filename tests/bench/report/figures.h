// The figures of benchmarks: of several runs of one, and as the text that docs/benchmarks.md has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::bench {

// How a figure is printed.
struct Print {
    double scale = 1;                // the printed number for each unit of the measured one
    int digits = 2;                  // significant digits
    std::string_view format = "{}";  // "{}" stands for the number, as in "{} ms"
};

// The results of a benchmark's runs.
struct Runs {
    double median = 0;
    double least = 0;
    double most = 0;
    double quartiles = 0;  // from the first to the third quartile

    // The same as a part of the median; 0 if the median is.
    double spread() const { return median == 0 ? 0 : quartiles / median; }
};

// Summarises results, of which there is at least one. Quartiles lie between two results if need be.
Runs summary_of(std::vector<double> results);

// Returns the number with so many significant digits and with commas between thousands, never with an
// exponent.
std::string number_text(double number, int digits);

// Returns the figure that the document has: the median, or the range of all runs where the greatest is more
// than a quarter above the least.
std::string figure_text(const Runs& runs, const Print& print);

// Returns a single number, scaled and rounded, with its unit.
std::string figure_text(double number, const Print& print);

// Returns whether the medians differ by more than the runs of either do. One run says nothing about that.
bool differ(const Runs& one, const Runs& other, int rounds);

}  // namespace pbs::bench
