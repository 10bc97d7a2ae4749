#include "tests/bench/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pbs::bench {
namespace {

constexpr double kRange = 1.25;

// Returns the value at this share of the sorted results, between two of them if need be.
double quantile(const std::vector<double>& sorted, double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string with_unit(const std::string& number, const Print& print) {
    return fmt::format(fmt::runtime(print.format), number);
}

}  // namespace

Runs summary_of(std::vector<double> results) {
    std::ranges::sort(results);
    return {.median = quantile(results, 0.5),
            .least = results.front(),
            .most = results.back(),
            .quartiles = quantile(results, 0.75) - quantile(results, 0.25)};
}

std::string number_text(double number, int digits) {
    if (number == 0) return "0";
    const auto decimals_of = [&](double one) {
        return digits - 1 - static_cast<int>(std::floor(std::log10(std::fabs(one))));
    };
    const double step = std::pow(10, -decimals_of(number));
    const double rounded = std::round(number / step) * step;
    // 9.96 has become 10
    std::string text = fmt::format("{:.{}f}", rounded, std::max(0, decimals_of(rounded)));
    const auto end = static_cast<std::ptrdiff_t>(std::min(text.find('.'), text.size()));
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (std::ptrdiff_t at = end - 3; at > first; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string figure_text(double number, const Print& print) {
    return with_unit(number_text(number * print.scale, print.digits), print);
}

std::string figure_text(const Runs& runs, const Print& print) {
    const std::string least = number_text(runs.least * print.scale, print.digits);
    const std::string most = number_text(runs.most * print.scale, print.digits);
    if (runs.most <= runs.least * kRange || least == most) return figure_text(runs.median, print);
    return with_unit(least + " to " + most, print);
}

bool differ(const Runs& one, const Runs& other, int rounds) {
    return rounds > 1 && std::fabs(one.median - other.median) > std::max(one.quartiles, other.quartiles);
}

}  // namespace pbs::bench
