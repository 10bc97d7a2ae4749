#include "ifl/cmds/qstat_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "ifl/cmds/options.h"
#include "values/text.h"

namespace pbs::cmds {

const char* const kQstatUsage =
    "usage:\n"
    "qstat [-f] [-J] [-p] [-t] [-x] [-E] [-F format | -w] [-D delim] [job_identifier... | destination...]\n"
    "qstat [-a|-i|-r|-H|-T] [-J] [-t] [-u user] [-n] [-s] [-G|-M] [-1] [-w]\n"
    "\t[job_identifier... | destination...]\n"
    "qstat -Q [-f] [-F format] [-D delim] [destination...]\n"
    "qstat -q [-G|-M] [destination...]\n"
    "qstat -B [-f] [-F format] [-D delim] [server_name...]\n"
    "qstat --help | --version\n";

namespace {

struct State {
    QstatOptions options;
    int selections = 0;  // number of -a, -i, -r, -H, which exclude each other
    bool queues_asked = false;
    bool servers_asked = false;
    bool delimiter_given = false;
    bool layout_asked = false;  // -a, -n, -s, -T, -G, -M: a format that excludes -f
};

constexpr Flag<QstatOptions> kQstatFlags[] = {
    {'1', &QstatOptions::one_line},  {'E', &QstatOptions::together},        {'G', &QstatOptions::gigabytes},
    {'M', &QstatOptions::megawords}, {'T', &QstatOptions::estimated_start}, {'f', &QstatOptions::full},
    {'n', &QstatOptions::nodes},     {'p', &QstatOptions::percent},         {'s', &QstatOptions::comments},
    {'w', &QstatOptions::wide}};

Result<void> apply(State& state, char letter, const std::string& value) {
    QstatOptions& options = state.options;
    const auto is_one_of = [&](std::string_view letters) {
        return letters.find(letter) != std::string_view::npos;
    };
    options.alternate = options.alternate || is_one_of("airHTunsGM");
    state.layout_asked = state.layout_asked || is_one_of("ansTGM");
    state.selections += is_one_of("airH") ? 1 : 0;
    if (set_flag<QstatOptions>(options, kQstatFlags, letter)) return {};
    switch (letter) {
        case 'i':
            options.criteria.add(ATTR_state, "", "EHQTW", EQ);
            break;
        case 'r':
            options.criteria.add(ATTR_state, "", "RS", EQ);
            break;
        case 'H':
            add_letter(options.extend, 'x');
            options.criteria.add(ATTR_state, "", "MFX", EQ);
            break;
        case 'u':
            options.criteria.add(ATTR_u, "", value, EQ);
            break;
        case 'J':
            options.criteria.add(ATTR_array, "", "True", EQ);
            break;
        case 't':
        case 'x':
            add_letter(options.extend, letter);
            break;
        case 'q':
            options.queue_limits = true;
            options.object = QstatObject::queues;
            break;
        case 'B':
            state.servers_asked = true;
            options.object = QstatObject::servers;
            break;
        case 'Q':
            state.queues_asked = true;
            options.object = QstatObject::queues;
            break;
        case 'D':
            state.delimiter_given = true;
            options.delimiter = value;
            break;
        case 'F': {
            const auto format = parse_format(value);
            if (!format) return tl::unexpected(format.error());
            options.format = *format;
            break;
        }
        default:
            break;
    }
    return {};
}

Result<void> check(const State& state) {
    const QstatOptions& options = state.options;
    const bool objects = state.queues_asked || state.servers_asked;
    const bool conflict =
        state.selections > 1 || (state.selections > 0 && options.queue_limits) ||
        (state.queues_asked && state.servers_asked) ||
        (objects && (options.alternate || options.queue_limits)) ||
        (options.gigabytes && options.megawords) || (options.format != ListFormat::text && !options.full) ||
        (options.queue_limits && options.full) || (options.one_line && !options.nodes && !options.comments) ||
        (options.full && state.layout_asked);
    if (conflict) return fail("conflicting options.");
    if (options.wide && options.format != ListFormat::text) return fail("option w cannot be used with -F");
    if (state.delimiter_given && options.format != ListFormat::dsv) return fail("-D is for -F dsv only");
    return {};
}

}  // namespace

Result<QstatOptions> parse_qstat_options(const std::vector<std::string>& arguments) {
    const auto line = parse_options("ainpqrstwxu:fGHJMQEBT1F:D:", arguments);
    if (!line) return tl::unexpected(line.error());
    State state;
    for (const Option& option : line->options)
        if (auto result = apply(state, option.letter, option.value); !result)
            return tl::unexpected(result.error());
    if (auto result = check(state); !result) return tl::unexpected(result.error());
    state.options.operands = line->all_operands();
    return std::move(state.options);
}

}  // namespace pbs::cmds
