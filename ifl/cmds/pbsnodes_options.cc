#include "ifl/cmds/pbsnodes_options.h"

#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/options.h"
#include "values/text.h"

namespace pbs::cmds {

const char* const kPbsnodesUsage =
    "usage:\tpbsnodes [-{c|d|o|r}] [-C comment] [-s server] host host ...\n"
    "\tpbsnodes -l [-s server]\n"
    "\tpbsnodes [-s server] -v vnode vnode ...\n"
    "\tpbsnodes -a[v][S[j][L]] [-F format] [-D delim] [-s server]\n"
    "\tpbsnodes [-H][S[j][L]] [-F format] [-D delim] host host ...\n"
    "\tpbsnodes --help | --version\n";

namespace {

Result<void> choose(PbsnodesOptions& options, NodesAction action) {
    // -C may go with -o and -r, before or after them
    const bool from_comment = options.action == NodesAction::comment &&
                              (action == NodesAction::offline || action == NodesAction::online);
    if (options.action != NodesAction::show && !from_comment)
        return fail("only one of -a, -c, -d, -H, -l, -o and -r can be given");
    options.action = action;
    return {};
}

constexpr std::pair<char, NodesAction> kPbsnodesActions[] = {
    {'a', NodesAction::show_all},  {'c', NodesAction::clear},       {'d', NodesAction::down_exactly},
    {'H', NodesAction::show_host}, {'l', NodesAction::list_marked}, {'o', NodesAction::offline},
    {'r', NodesAction::online}};

constexpr Flag<PbsnodesOptions> kPbsnodesFlags[] = {{'L', &PbsnodesOptions::long_columns},
                                                    {'S', &PbsnodesOptions::summary},
                                                    {'j', &PbsnodesOptions::jobs},
                                                    {'q', &PbsnodesOptions::quiet},
                                                    {'v', &PbsnodesOptions::vnodes}};

Result<void> apply(PbsnodesOptions& options, const Option& option) {
    for (const auto& [letter, action] : kPbsnodesActions)
        if (letter == option.letter) return choose(options, action);
    if (set_flag<PbsnodesOptions>(options, kPbsnodesFlags, option.letter)) return {};
    switch (option.letter) {
        case 'C':
            options.comment = option.value;
            return options.action == NodesAction::show ? choose(options, NodesAction::comment)
                                                       : Result<void>();
        case 'D':
            options.delimiter = option.value;
            return {};
        case 'F': {
            const auto format = parse_format(option.value);
            if (!format) return tl::unexpected(format.error());
            options.format = *format;
            return {};
        }
        default:
            options.server = option.value;  // -s
            return {};
    }
}

Result<void> check(const PbsnodesOptions& options) {
    const NodesAction action = options.action;
    const bool shows =
        action == NodesAction::show || action == NodesAction::show_all || action == NodesAction::show_host;
    const bool takes_names = action != NodesAction::show_all && action != NodesAction::list_marked;
    if (takes_names && options.names.empty() && action != NodesAction::down_exactly)
        return fail("expected names of hosts or vnodes");
    if (!takes_names && !options.names.empty())
        return fail(fmt::format("unexpected '{}': -a and -l take no names", options.names.front()));
    if (!shows &&
        (options.summary || options.jobs || options.long_columns || options.format != ListFormat::text))
        return fail("-S, -j, -L and -F are for showing vnodes");
    if ((options.jobs || options.long_columns) && !options.summary) return fail("-j and -L go with -S");
    if (options.comment && shows) return fail("-C goes with -o, -r, or stands alone");
    if (options.comment && (action == NodesAction::clear || action == NodesAction::list_marked))
        return fail("-C goes with -o, -r, or stands alone");
    return {};
}

}  // namespace

Result<PbsnodesOptions> parse_pbsnodes_options(const std::vector<std::string>& arguments) {
    const auto line = parse_options("acC:dD:F:HjlLoqrs:Sv", arguments);
    if (!line) return tl::unexpected(line.error());
    PbsnodesOptions options;
    options.names = line->all_operands();
    for (const Option& option : line->options)
        if (auto applied = apply(options, option); !applied) return tl::unexpected(applied.error());
    if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
    return options;
}

}  // namespace pbs::cmds
