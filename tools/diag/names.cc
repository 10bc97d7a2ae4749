#include "tools/diag/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "values/text.h"

namespace pbs::diag {
namespace {

bool is_of_word(char c) {
    return values::is_alnum(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace

void Names::add(std::string_view kind, std::string_view name) {
    if (name.empty() || names_.contains(name)) return;
    const int number = ++counts_[std::string(kind)];
    names_.emplace(name, fmt::format("{}{}", kind, number));
}

// Replaces a word as a whole or, if it isn't known, each part between dots, as in a job's id or a host with
// its domain.
std::string Names::word(std::string_view text) const {
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return std::string(text);
    return word(text.substr(0, dot)) + "." + word(text.substr(dot + 1));
}

std::string Names::replaced(std::string_view text) const {
    constexpr std::string_view kJobName = "job name = ";
    std::string other;
    while (!text.empty()) {
        if (text.starts_with(kJobName)) {
            other += kJobName;
            other += "NAME";
            text.remove_prefix(std::min(text.find_first_of(",\n", kJobName.size()), text.size()));
            continue;
        }
        const auto end = std::find_if_not(text.begin(), text.end(), is_of_word) - text.begin();
        if (end == 0) {
            other += text.front();
            text.remove_prefix(1);
            continue;
        }
        // Leave the dot that ends a sentence out of the name.
        std::string_view found = text.substr(0, static_cast<std::size_t>(end));
        while (found.size() > 1 && found.back() == '.') found.remove_suffix(1);
        other += word(found);
        text.remove_prefix(found.size());
    }
    return other;
}

}  // namespace pbs::diag
