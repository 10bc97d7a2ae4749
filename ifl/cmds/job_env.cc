#include "ifl/cmds/job_env.h"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/text.h"

namespace pbs::cmds {

namespace {

constexpr std::string_view kOwnPrefix = "PBS_O_";

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

struct Variable {
    std::string name;
    std::optional<std::string> value;
};

// "A,B=x,C='x,y'" of -v. Quotes hide commas, and a backslash takes the next character as it is.
Result<std::vector<Variable>> parse_wanted(std::string_view text) {
    std::vector<Variable> found;
    std::size_t i = 0;
    while (i < text.size()) {
        Variable variable;
        std::string* part = &variable.name;
        char quote = '\0';
        for (; i < text.size() && (quote != '\0' || text[i] != ','); ++i) {
            const char c = text[i];
            if (quote != '\0' && c == quote) {
                quote = '\0';
            } else if (quote == '\0' && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
                *part += text[++i];
            } else if (c == '=' && part == &variable.name) {
                part = &variable.value.emplace();
            } else {
                *part += c;
            }
        }
        ++i;  // the comma
        variable.name = trim(variable.name);
        if (quote != '\0') {
            return fail(fmt::format("illegal -v value '{}': no closing quote", text));
        }
        if (variable.name.empty()) {
            return fail(fmt::format("illegal -v value '{}': a variable without a name", text));
        }
        found.push_back(std::move(variable));
    }
    return found;
}

bool is_own(std::string_view name) {
    return name.substr(0, kOwnPrefix.size()) == kOwnPrefix;
}

}  // namespace

Result<std::string> variable_list(const SubmitEnvironment& environment,
                                  const std::optional<std::string>& wanted, bool all) {
    std::vector<std::string> items;
    const auto add = [&](std::string_view name, std::string_view value) {
        items.push_back(fmt::format("{}={}", name, escape_variable(value)));
    };
    for (const OwnVariable& own : kOwn) {
        if (const auto source = environment.variables.find(own.source);
            source != environment.variables.end()) {
            add(own.name, source->second);
        }
    }
    add("PBS_O_WORKDIR", environment.directory);
    add("PBS_O_SYSTEM", environment.system);
    add("PBS_O_HOST", environment.host);
    std::map<std::string, bool> given;
    if (wanted) {
        auto variables = parse_wanted(*wanted);
        if (!variables) {
            return tl::unexpected(variables.error());
        }
        for (Variable& variable : *variables) {
            if (!variable.value) {
                const auto source = environment.variables.find(variable.name);
                if (source == environment.variables.end()) {
                    return fail(
                        fmt::format("-v {}: there is no such variable in the environment", variable.name), 1);
                }
                variable.value = source->second;
            }
            if (!is_own(variable.name)) {
                add(variable.name, *variable.value);
                given[variable.name] = true;
            }
        }
    }
    if (all) {
        for (const auto& [name, value] : environment.variables) {
            if (!is_own(name) && !given.contains(name)) {
                add(name, value);
            }
        }
    }
    return fmt::format("{}", fmt::join(items, ","));
}

}  // namespace pbs::cmds
