#include "ifl/cmds/job_env.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/variable_list.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::string_view kOwnPrefix = "PBS_O_";
constexpr std::string_view kBlanks = " \t\n\v\f\r";

struct OwnVariable {
    const char* name;
    const char* source;
};
constexpr std::array kOwn{
    OwnVariable{"PBS_O_HOME", "HOME"},       OwnVariable{"PBS_O_LANG", "LANG"},
    OwnVariable{"PBS_O_LOGNAME", "LOGNAME"}, OwnVariable{"PBS_O_PATH", "PATH"},
    OwnVariable{"PBS_O_MAIL", "MAIL"},       OwnVariable{"PBS_O_SHELL", "SHELL"},
    OwnVariable{"PBS_O_TZ", "TZ"},
};

// A variable of -v. nullopt: its value comes from the environment.
struct Wanted {
    std::string name;
    std::optional<std::string> value;
};

// Removes the first variable and its comma from a list such as "A,B=x,C='x,y',D=x\,y". Quotes hide commas and
// the other kind of quotes. A backslash makes a following comma, quote or backslash a plain character; in
// double quotes, only a double quote or backslash. Any other backslash stands for itself. Blanks around a
// variable aren't part of it.
Result<Wanted> take_wanted(std::string_view& list) {
    Wanted variable;
    std::string* part = &variable.name;
    char quote = '\0';
    std::size_t quoted = 0;  // length of `part` up to its last closing quote: blanks in it stay
    std::size_t i = 0;
    for (; i < list.size() && (quote != '\0' || list[i] != ','); ++i) {
        const char c = list[i];
        const char next = i + 1 < list.size() ? list[i + 1] : '\0';
        if (quote != '\0' && c == quote) {
            quote = '\0';
            quoted = part->size();
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == '\\' && (quote == '\0'  ? text::is_escaped_in_variables(next)
                                 : quote == '"' ? next == '"' || next == '\\'
                                                : false)) {
            *part += list[++i];
        } else if (c == '=' && part == &variable.name) {
            part = &variable.value.emplace();
            quoted = 0;
        } else {
            *part += c;
        }
    }
    if (quote != '\0') return fail(fmt::format("illegal -v value '{}': no closing quote", list));
    list.remove_prefix(std::min(i + 1, list.size()));
    part->resize(std::max(quoted, part->find_last_not_of(kBlanks) + 1));
    variable.name = values::trim(variable.name);
    return variable;
}

Result<std::vector<Wanted>> parse_wanted(std::string_view list) {
    const std::string_view all = list;
    std::vector<Wanted> found;
    while (!list.empty()) {
        auto variable = take_wanted(list);
        if (!variable) return tl::unexpected(variable.error());
        if (variable->name.empty())
            return fail(fmt::format("illegal -v value '{}': a variable without a name", all));
        found.push_back(std::move(*variable));
    }
    return found;
}

// Returns whether PBS itself sets the variable. Such variables aren't passed on: a job that submits another
// job must not give it its cookies.
bool is_own(std::string_view name) {
    return name.starts_with(kOwnPrefix) || name == "PBS_JOBCOOKIE" || name == "PBS_INTERACTIVE_COOKIE";
}

}  // namespace

Result<std::string> variable_list(const SubmitEnvironment& environment,
                                  const std::optional<std::string>& wanted, bool all) {
    std::string list;
    const auto add = [&](std::string_view name, std::string_view value) {
        text::append_variable(list, name, value);
    };
    for (const OwnVariable& own : kOwn)
        if (const auto source = environment.variables.find(own.source); source != environment.variables.end())
            add(own.name, source->second);
    add("PBS_O_WORKDIR", environment.directory);
    add("PBS_O_SYSTEM", environment.system);
    add("PBS_O_HOST", environment.host);
    std::map<std::string, bool> given;
    if (wanted) {
        auto variables = parse_wanted(*wanted);
        if (!variables) return tl::unexpected(variables.error());
        for (Wanted& variable : *variables) {
            if (is_own(variable.name)) continue;
            if (!variable.value) {
                const auto source = environment.variables.find(variable.name);
                if (source == environment.variables.end()) {
                    return fail(
                        fmt::format("-v {}: there is no such variable in the environment", variable.name), 1);
                }
                variable.value = source->second;
            }
            add(variable.name, *variable.value);
            given[variable.name] = true;
        }
    }
    if (all) {
        for (const auto& [name, value] : environment.variables)
            if (!is_own(name) && !given.contains(name)) add(name, value);
    }
    return list;
}

}  // namespace pbs::cmds
