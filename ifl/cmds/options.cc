#include "ifl/cmds/options.h"
#include "values/text.h"

#include <fmt/format.h>

namespace pbs::cmds {

namespace {

enum class Takes { unknown, nothing, value };

Takes takes(std::string_view letters, char letter) {
    const std::size_t at = letter == ':' ? std::string_view::npos : letters.find(letter);
    if (at == std::string_view::npos) return Takes::unknown;
    return at + 1 < letters.size() && letters[at + 1] == ':' ? Takes::value : Takes::nothing;
}

}  // namespace

Result<CommandLine> parse_options(std::string_view letters, const std::vector<std::string>& arguments) {
    CommandLine line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            line.dashes = true;
            line.after_dashes.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            break;
        }
        if (argument.size() < 2 || argument[0] != '-') {
            line.operands.push_back(argument);
            continue;
        }
        if (argument[1] == '-') return fail(fmt::format("unknown option {}", argument));
        for (std::size_t k = 1; k < argument.size(); ++k) {
            const char letter = argument[k];
            const Takes kind = takes(letters, letter);
            if (kind == Takes::unknown) return fail(fmt::format("unknown option -{}", letter));
            if (kind == Takes::nothing) {
                line.options.push_back({letter, ""});
                continue;
            }
            if (k + 1 < argument.size())
                line.options.push_back({letter, argument.substr(k + 1)});
            else if (i + 1 < arguments.size())
                line.options.push_back({letter, arguments[++i]});
            else
                return fail(fmt::format("option -{} needs a value", letter));
            break;
        }
    }
    return line;
}

Result<ListFormat> parse_format(std::string_view text) {
    if (values::same_word(text, "default")) return ListFormat::text;
    if (values::same_word(text, "dsv")) return ListFormat::dsv;
    if (values::same_word(text, "json")) return ListFormat::json;
    return fail(fmt::format("-F {}: expected default, dsv or json", text));
}

}  // namespace pbs::cmds
