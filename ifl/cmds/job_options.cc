#include "ifl/cmds/job_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/hold_types.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/text.h"
#include "text/xml.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::cmds {

const char* const kQsubUsage =
    "usage: qsub [-a date_time] [-A account_string] [-c interval] [-C directive_prefix]\n"
    "\t[-e path] [-f] [-h] [-I] [-j oe|eo|n] [-J X-Y[:Z][%L]] [-k keep] [-l resource_list]\n"
    "\t[-m mail_options] [-M user_list] [-N jobname] [-o path] [-p priority] [-P project]\n"
    "\t[-q queue] [-r y|n] [-R o|e|oe] [-S path] [-u user_list] [-v variable_list] [-V]\n"
    "\t[-W otherattributes=value...] [-z] [script | -- command [arg1 ...]]\n"
    "       qsub --help | --version\n";

const char* const kQalterUsage =
    "usage: qalter [-a date_time] [-A account_string] [-c interval] [-e path] [-h hold_list]\n"
    "\t[-j oe|eo|n] [-k keep] [-l resource_list] [-m mail_options] [-M user_list] [-N jobname]\n"
    "\t[-o path] [-p priority] [-P project] [-r y|n] [-R o|e|oe] [-S path] [-u user_list]\n"
    "\t[-W otherattributes=value...] job_identifier...\n"
    "       qalter --help | --version\n";

namespace {

constexpr std::string_view kSubmitLetters = "a:A:c:C:e:fhIj:J:k:l:m:M:N:o:p:P:q:r:R:S:u:v:VW:Xz";
constexpr std::string_view kAlterLetters = "a:A:c:e:h:j:k:l:m:M:N:o:p:P:r:R:S:u:W:";

bool only(std::string_view value, std::string_view letters) {
    return !value.empty() && value.find_first_not_of(letters) == std::string_view::npos;
}

Result<void> check_priority(std::string_view value) {
    const auto number = parse_integer(value);
    if (!number || *number < -1024 || *number > 1023)
        return fail("expected a whole number from -1024 to 1023");
    return {};
}

Result<void> check_name(std::string_view value) {
    if (!is_job_name(value)) return fail("expected letters, digits, '-', '_', '+' and '.', at most 230");
    return {};
}

// Returns whether the value has letters of o and e, or of n; a d may be beside them.
bool is_keep(std::string_view value) {
    return value.find_first_not_of('d') != std::string_view::npos &&
           (only(value, "oed") || only(value, "nd"));
}

// Checks a list of names, each with a host or without: "una,alice@box". If `once` is true, each host may be
// named once, and one name may have no host.
Result<void> check_names(std::string_view list, bool once) {
    std::vector<std::string_view> hosts;
    for (std::string_view entry : values::split(list, ',')) {
        entry = values::trim(entry);
        const std::size_t at = std::min(entry.find('@'), entry.size());
        const std::string_view host = entry.substr(std::min(at + 1, entry.size()));
        const bool good = at > 0 && (at == entry.size() || !host.empty()) &&
                          host.find('@') == std::string_view::npos &&
                          std::none_of(entry.begin(), entry.end(), values::is_space);
        if (!good) return fail(fmt::format("'{}': expected a name, or a name@host", entry));
        if (once && std::find(hosts.begin(), hosts.end(), host) != hosts.end()) {
            return fail(host.empty() ? std::string("expected at most one name without a host")
                                     : fmt::format("expected at most one name for host {}", host));
        }
        hosts.push_back(host);
    }
    return {};
}

Result<void> check_shells(std::string_view list) {
    for (const std::string_view entry : values::split(list, ','))
        if (!values::trim(entry).starts_with('/'))
            return fail(fmt::format("'{}': expected the path of a program, or a path@host", entry));
    return check_names(list, true);
}

// Checks the syntax of an option's value; the server checks its meaning.
Result<void> check_value(char letter, std::string_view value, bool submits) {
    switch (letter) {
        case 'j':
            return value == "oe" || value == "eo" || value == "n" ? Result<void>()
                                                                  : fail("expected oe, eo or n");
        case 'k':
            return is_keep(value) ? Result<void>() : fail("expected letters of o, e and d, or n");
        case 'm':
            return only(value, "abejn") && (value == "n" || value.find('n') == std::string_view::npos)
                       ? Result<void>()
                       : fail("expected letters of a, b, e and j, or n");
        case 'r':
            return value == "y" || value == "n" ? Result<void>() : fail("expected y or n");
        case 'R':
            return only(value, "oe") ? Result<void>() : fail("expected o, e or oe");
        case 'p':
            return check_priority(value);
        case 'N':
            return check_name(value);
        case 'h':
            return submits ? Result<void>() : check_hold_types(value);
        case 'M':
            return check_names(value, false);
        case 'u':
            return check_names(value, true);
        case 'S':
            return check_shells(value);
        case 'A':
        case 'C':  // an empty prefix: no directives
        case 'l':
        case 'P':
        case 'q':
        case 'v':
            return {};  // may be empty, as scripts pass variables that aren't set
        default:
            return value.empty() ? fail("expected a value") : Result<void>();
    }
}

struct LetterAttribute {
    char letter;
    const char* attribute;
};
// Options whose value becomes the attribute's value unchanged.
constexpr std::array kPlain{
    LetterAttribute{'A', ATTR_A},       LetterAttribute{'c', ATTR_c}, LetterAttribute{'j', ATTR_j},
    LetterAttribute{'k', ATTR_k},       LetterAttribute{'m', ATTR_m}, LetterAttribute{'M', ATTR_M},
    LetterAttribute{'N', ATTR_N},       LetterAttribute{'p', ATTR_p}, LetterAttribute{'r', ATTR_r},
    LetterAttribute{'R', ATTR_R},       LetterAttribute{'S', ATTR_S}, LetterAttribute{'u', ATTR_u},
    LetterAttribute{'P', ATTR_project},
};

// Adds the limit on subjobs that run at once. It is checked here, because OpenPBS's server accepts any value.
Result<void> add_most_running(JobOptions& options, std::string_view most) {
    if (options.attributes.has(ATTR_max_run_subjobs)) return fail("multiple max_run_subjobs values found");
    if (const auto number = parse_integer(most); !number || *number < 0) {
        return fail(
            fmt::format("max_run_subjobs '{}': expected how many subjobs may run at once, 0 or more", most));
    }
    options.attributes.put(ATTR_max_run_subjobs, "", std::string(most));
    return {};
}

// Moves a range of chunks to a resource of its own: select=4-16:... becomes select=4:... and
// select_range=4-16.
Result<void> split_range(AttrList& attributes, bool is_array) {
    const std::string* select = attributes.find(ATTR_l, "select");
    if (select == nullptr) return {};
    for (std::size_t plus = select->find('+'); plus != std::string::npos;
         plus = select->find('+', plus + 1)) {
        const std::string count = select->substr(plus + 1, select->find_first_of(":+", plus + 1) - plus - 1);
        const std::size_t dash = count.find('-');
        if (dash == std::string::npos || !parse_integer(std::string_view(count).substr(0, dash)) ||
            (dash + 1 < count.size() && !parse_integer(std::string_view(count).substr(dash + 1))))
            continue;
        return fail(
            fmt::format("select '{}': '{}' in column {}: expected one number, because only the first chunks "
                        "may have a range",
                        *select, count, plus + 2));
    }
    const std::string range = select->substr(0, select->find_first_of(":+"));
    const std::size_t dash = range.find('-');
    const auto low = parse_integer(std::string_view(range).substr(0, dash));
    if (dash == std::string::npos || !low) return {};
    const auto high = parse_integer(std::string_view(range).substr(dash + 1));
    if (*low < 1 || (dash + 1 < range.size() && (!high || *high < *low))) {
        return fail(
            fmt::format("select '{}': expected a range of numbers of chunks, such as 4-16 or 4-", range));
    }
    if (attributes.has(ATTR_l, "select_range"))
        return fail(fmt::format("select '{}': expected one number of chunks beside select_range", range));
    if (is_array)
        return fail(fmt::format("select '{}': a job array can't have a range of numbers of chunks", range));
    attributes.put(ATTR_l, "select_range", range);
    attributes.put(ATTR_l, "select", std::to_string(*low) + select->substr(range.size()));
    return {};
}

Result<void> add_other_attributes(JobOptions& options, std::string_view text, bool submits) {
    const auto pairs = parse_pairs(text);
    if (!pairs) return tl::unexpected(pairs.error());
    for (const auto& [name, value] : *pairs) {
        if (name == ATTR_inter || name == ATTR_block) {
            const bool on = values::same_word(value, "true");
            if (!on && !values::same_word(value, "false"))
                return fail(fmt::format("{}={}: expected true or false", name, value));
            if (on && !submits) return fail(fmt::format("{} can't be altered", name));
            (name == ATTR_inter ? options.interactive : options.block) = on;
            continue;
        }
        if (name == ATTR_max_run_subjobs) {
            if (auto added = add_most_running(options, value); !added) return added;
            continue;
        }
        options.attributes.put(name, "", value);
    }
    return {};
}

// Returns whether the text is X-Y or X-Y:Z with X below Y and Z above 0.
bool is_index_range(std::string_view text) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const std::size_t colon = std::min(text.find(':', dash), text.size());
    const auto first = values::digits<std::int64_t>(text.substr(0, dash));
    const auto last = values::digits<std::int64_t>(
        text.substr(std::min(dash + 1, colon), colon - std::min(dash + 1, colon)));
    const auto step = colon < text.size() ? values::digits<std::int64_t>(text.substr(colon + 1)) : 1;
    return first && last && step && *first<*last&& * step> 0;
}

// Reads "X-Y:Z%L": the indices, and how many subjobs may run at once.
Result<void> add_array(JobOptions& options, std::string_view value) {
    const std::size_t percent = value.find('%');
    if (!is_index_range(value.substr(0, percent)))
        return fail("expected X-Y, X-Y:Z or one of these and %L, with X below Y and Z above 0");
    options.attributes.put(ATTR_J, "", std::string(value.substr(0, percent)));
    if (percent == std::string_view::npos) return {};
    return add_most_running(options, value.substr(percent + 1));
}

Result<void> apply_value(JobOptions& options, const Option& option, const OptionContext& context,
                         bool submits) {
    const std::string value(values::trim(option.value));
    if (auto checked = check_value(option.letter, value, submits); !checked) return checked;
    for (const LetterAttribute& plain : kPlain) {
        if (plain.letter == option.letter) {
            options.attributes.put(plain.attribute, "", value);
            return {};
        }
    }
    switch (option.letter) {
        case 'a': {
            const auto when = parse_date(value, context.now);
            if (!when) return tl::unexpected(when.error());
            options.attributes.put(ATTR_a, "", std::to_string(*when));
            return {};
        }
        case 'e':
        case 'o':
            options.attributes.put(option.letter == 'e' ? ATTR_e : ATTR_o, "", full_path(value, context));
            return {};
        case 'h':
            options.attributes.put(ATTR_h, "", submits ? USER_HOLD : value);
            return {};
        case 'J':
            return add_array(options, value);
        case 'l':
            return add_resources(options.attributes, value);
        case 'W':
            return add_other_attributes(options, value, submits);
        case 'q':
            if (const auto destination = parse_destination(value); !destination)
                return tl::unexpected(destination.error());
            options.destination = value;
            return {};
        case 'v':
            options.variables = option.value;
            return {};
        default:
            options.prefix = option.value;
            return {};
    }
}

Result<void> apply(JobOptions& options, const Option& option, const OptionContext& context, bool submits) {
    switch (option.letter) {
        case 'I':
            options.interactive = true;
            return {};
        case 'X':
            return fail("X11 forwarding (-X) is not supported by this command");
        case 'f':
            return {};  // foreground: this command always runs there
        case 'V':
            options.all_variables = true;
            return {};
        case 'z':
            options.quiet = true;
            return {};
        default:
            break;
    }
    auto applied = apply_value(options, option, context, submits);
    if (!applied) {
        return fail(
            fmt::format("illegal -{} value '{}': {}", option.letter, option.value, applied.error().message));
    }
    return applied;
}

Result<JobOptions> parse(std::string_view letters, const std::vector<std::string>& arguments,
                         const OptionContext& context, bool submits) {
    auto line = parse_options(letters, arguments);
    if (!line) return tl::unexpected(line.error());
    JobOptions options;
    for (const Option& option : line->options)
        if (auto applied = apply(options, option, context, submits); !applied)
            return tl::unexpected(applied.error());
    if (auto split = split_range(options.attributes, options.attributes.has(ATTR_J)); !split)
        return tl::unexpected(split.error());
    options.operands = std::move(line->operands);
    options.command = std::move(line->after_dashes);
    if (line->dashes && options.command.empty() && submits) return fail("expected a command after --");
    return options;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool under_way = false;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            under_way = true;
        } else if (c == '\\' && i + 1 < line.size()) {
            word += line[++i];
            under_way = true;
        } else if (values::is_space(c)) {
            if (under_way) words.push_back(std::exchange(word, {}));
            under_way = false;
        } else {
            word += c;
            under_way = true;
        }
    }
    if (quote != '\0') return fail(fmt::format("unmatched {} in: {}", quote, line), 1);
    if (under_way) words.push_back(std::move(word));
    return words;
}

Result<void> add_resources(AttrList& attributes, std::string_view text) {
    if (text.empty()) return {};
    std::size_t at = 0;
    for (;;) {
        const std::size_t end = std::min(text.find_first_of("=,", at), text.size());
        const std::string_view name = values::trim(text.substr(at, end - at));
        const bool good = !name.empty() && values::is_letter(name.front()) &&
                          std::all_of(name.begin(), name.end(),
                                      [](char c) { return values::is_alnum(c) || c == '_' || c == '-'; });
        if (!good) return fail(fmt::format("expected resource=value at '{}'", text.substr(at)));
        std::string value;
        at = end;
        if (at < text.size() && text[at] == '=') {
            ++at;
            while (at < text.size() && values::is_space(text[at])) ++at;
            const auto taken = take_value(text, at);
            if (!taken) return fail(fmt::format("{} in '{}'", taken.error().message, text));
            value = taken->text;
            at = taken->end;
        }
        if (value.empty() && name == "select") return fail("expected a value after 'select='");
        attributes.put(ATTR_l, std::string(name), std::move(value));
        while (at < text.size() && values::is_space(text[at])) ++at;
        if (at >= text.size()) return {};
        if (text[at] != ',') return fail(fmt::format("expected a comma at '{}'", text.substr(at)));
        ++at;
    }
}

// The place of an output file. A path without a host is in the working directory; a path on a named host is
// left as it is, and is in the home directory there.
std::string full_path(std::string_view path, const OptionContext& context) {
    std::string host = context.host;
    // "host:path"; a colon after a slash belongs to the path
    const std::size_t colon = path.find(':');
    if (colon != std::string_view::npos && path.substr(0, colon).find('/') == std::string_view::npos) {
        if (colon > 0) host = path.substr(0, colon);
        path.remove_prefix(colon + 1);
        return fmt::format("{}:{}", host, path);
    }
    if (!path.empty() && path.front() == '/') return fmt::format("{}:{}", host, path);
    return fmt::format("{}:{}{}{}", host, context.directory, context.directory.ends_with('/') ? "" : "/",
                       path);
}

std::string encode_arguments(const std::vector<std::string>& arguments, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < arguments.size(); ++i)
        text += fmt::format("<jsdl-hpcpa:Argument>{}</jsdl-hpcpa:Argument>", text::to_xml(arguments[i]));
    return text;
}

Result<JobOptions> parse_submit_options(const std::vector<std::string>& arguments,
                                        const OptionContext& context) {
    auto options = parse(kSubmitLetters, arguments, context, true);
    if (options &&
        (options->operands.size() > 1 || (!options->operands.empty() && !options->command.empty()))) {
        return fail(fmt::format("unexpected '{}': there is one script, and nothing behind it",
                                options->operands.size() > 1 ? options->operands[1] : options->operands[0]));
    }
    return options;
}

Result<JobOptions> parse_option_line(std::string_view line, const OptionContext& context) {
    const auto words = split_words(line);
    if (!words) return tl::unexpected(words.error());
    auto options = parse(kSubmitLetters, *words, context, true);
    if (!options) return fail(options.error().message, 1);
    if (!options->operands.empty() || !options->command.empty()) {
        return fail(fmt::format("'{}' is not an option",
                                options->operands.empty() ? options->command[0] : options->operands[0]),
                    1);
    }
    return options;
}

Result<JobOptions> parse_alter_options(const std::vector<std::string>& arguments,
                                       const OptionContext& context) {
    auto options = parse(kAlterLetters, arguments, context, false);
    if (!options) return options;
    options->operands.insert(options->operands.end(), options->command.begin(), options->command.end());
    options->command.clear();
    if (options->operands.empty()) return fail("no job identifier");
    return options;
}

void add_missing(JobOptions& options, const JobOptions& lower) {
    // Options with a select of their own take no range from `lower`: a range belongs to its select.
    const bool own_select = options.attributes.has(ATTR_l, "select");
    for (const AttrList::Entry& entry : lower.attributes.entries()) {
        if (own_select && entry.resource == "select_range") continue;
        if (!options.attributes.has(entry.name, entry.resource))
            options.attributes.add(entry.name, entry.resource, entry.value, entry.op);
    }
    const auto take = [](auto& mine, const auto& theirs) {
        if (!mine) mine = theirs;
    };
    take(options.destination, lower.destination);
    take(options.prefix, lower.prefix);
    take(options.variables, lower.variables);
    options.all_variables = options.all_variables || lower.all_variables;
    options.quiet = options.quiet || lower.quiet;
    options.interactive = options.interactive || lower.interactive;
    options.block = options.block || lower.block;
}

std::string without_effect(const AttrList& attributes) {
    const std::string* when = attributes.find(ATTR_c);
    if (when == nullptr || *when == "n" || *when == "u") return {};
    return fmt::format(
        "Warning: Checkpoint={} is kept but has no effect: pbs_server makes no checkpoints by itself", *when);
}

void add_defaults(JobOptions& options) {
    constexpr std::array<LetterAttribute, 6> kNames{
        LetterAttribute{'c', ATTR_c}, LetterAttribute{'h', ATTR_h}, LetterAttribute{'j', ATTR_j},
        LetterAttribute{'k', ATTR_k}, LetterAttribute{'m', ATTR_m}, LetterAttribute{'p', ATTR_p}};
    constexpr std::array<const char*, 6> kValues{CHECKPOINT_UNSPECIFIED, NO_HOLD, NO_JOIN, NO_KEEP,
                                                 MAIL_AT_ABORT,          "0"};
    JobOptions defaults;
    for (std::size_t i = 0; i < kNames.size(); ++i)
        defaults.attributes.add(kNames[i].attribute, "", kValues[i]);
    defaults.attributes.add(ATTR_r, "", "TRUE");
    add_missing(options, defaults);
}

}  // namespace pbs::cmds
