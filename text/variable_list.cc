#include "text/variable_list.h"

#include <algorithm>

namespace pbs::text {
namespace {

// White space of the C locale, which OpenPBS's server skips.
constexpr std::string_view kBlanks = " \t\n\v\f\r";

void append_escaped(std::string& list, std::string_view text) {
    for (const char c : text) {
        if (is_escaped_in_variables(c)) list += '\\';
        list += c;
    }
}

// Removes the first entry of the list and its comma, and returns the entry without its backslashes.
std::string take_entry(std::string_view& list) {
    std::string entry;
    std::size_t at = 0;
    for (; at < list.size() && list[at] != ','; ++at) {
        if (list[at] == '\\' && at + 1 < list.size() && is_escaped_in_variables(list[at + 1])) ++at;
        entry += list[at];
    }
    list.remove_prefix(std::min(at + 1, list.size()));
    return entry;
}

// Returns whether an entry begins at `at`: only blanks precede it in the list, or a comma that isn't escaped
// and blanks.
bool begins_entry(std::string_view list, std::size_t at) {
    const std::size_t before = list.substr(0, at).find_last_not_of(kBlanks);
    if (before == std::string_view::npos) return true;
    if (list[before] != ',') return false;
    const std::size_t other = list.substr(0, before).find_last_not_of('\\');
    return (before - (other == std::string_view::npos ? 0 : other + 1)) % 2 == 0;
}

}  // namespace

bool is_escaped_in_variables(char c) {
    return c == ',' || c == '\'' || c == '"' || c == '\\';
}

void append_variable(std::string& list, std::string_view name, std::string_view value) {
    if (!list.empty()) list += ',';
    append_escaped(list, name);
    list += '=';
    append_escaped(list, value);
}

std::string variable_list(const std::vector<Variable>& variables) {
    std::string list;
    for (const auto& [name, value] : variables) append_variable(list, name, value);
    return list;
}

std::vector<Variable> parse_variables(std::string_view list) {
    std::vector<Variable> variables;
    while (!list.empty()) {
        std::string entry = take_entry(list);
        entry.erase(0, std::min(entry.find_first_not_of(kBlanks), entry.size()));
        if (entry.empty()) continue;
        const std::size_t equals = std::min(entry.find('='), entry.size());
        variables.emplace_back(entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size())));
    }
    return variables;
}

std::optional<std::string> find_variable(std::string_view list, std::string_view name) {
    for (std::size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
        const std::size_t equals = at + name.size();
        if (equals >= list.size() || list[equals] != '=' || !begins_entry(list, at)) continue;
        list.remove_prefix(equals + 1);
        return take_entry(list);
    }
    return std::nullopt;
}

}  // namespace pbs::text
