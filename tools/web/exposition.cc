#include "tools/web/exposition.h"

#include <fmt/format.h>

#include <algorithm>

namespace pbs::web {
namespace {

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) all.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

std::string escaped(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        if (c == '\n') {
            plain += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') plain += '\\';
        plain += c;
    }
    return plain;
}

}  // namespace

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Exposition::line(std::string_view suffix, const Labels& labels, std::string_view value) {
    text_ += name_;
    text_ += suffix;
    for (std::size_t i = 0; i < labels.size(); ++i)
        text_ += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first, escaped(labels[i].second));
    text_ += labels.empty() ? " " : "} ";
    text_ += value;
    text_ += '\n';
}

void Exposition::sample(std::string_view value, const Labels& labels) {
    line("", labels, value);
}

void Exposition::sample(double value, const Labels& labels) {
    line("", labels, fmt::format("{:.15g}", value));
}

bool Exposition::histogram(std::string_view counted, std::string_view bounds, const Labels& labels) {
    const auto counts = words(counted);
    const auto limits = words(bounds);
    if (counts.size() != limits.size() + 2) return false;
    Labels with_bound = labels;
    with_bound.emplace_back("le", "");
    for (std::size_t i = 0; i < limits.size(); ++i) {
        with_bound.back().second = limits[i];
        line("_bucket", with_bound, counts[i + 2]);
    }
    with_bound.back().second = "+Inf";
    line("_bucket", with_bound, counts[0]);
    line("_sum", labels, counts[1]);
    line("_count", labels, counts[0]);
    return true;
}

}  // namespace pbs::web
