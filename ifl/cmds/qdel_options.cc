#include "ifl/cmds/qdel_options.h"

#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/options.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_ifl.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr long long kMailsByDefault = 1000;

// The number N in "suppress_email=N" or "-Wsuppress_email = N".
std::optional<long long> suppression(std::string_view text) {
    text = values::trim(text);
    if (text.substr(0, 2) == "-W") text = values::trim(text.substr(2));
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || values::trim(text.substr(0, equals)) != SUPPRESS_EMAIL)
        return std::nullopt;
    const auto number = parse_integer(values::trim(text.substr(equals + 1)));
    return number && *number >= -1 ? std::optional(*number) : std::nullopt;
}

Result<void> apply(QdelOptions& options, const std::string& value) {
    if (value == FORCE) {
        options.force = true;
        return {};
    }
    if (const auto mails = suppression(value)) {
        options.mails = mails;
        return {};
    }
    return fail(fmt::format("illegal -W value '{}': expected force or suppress_email=N", value));
}

}  // namespace

Result<QdelOptions> parse_qdel_options(const std::vector<std::string>& arguments) {
    const auto line = parse_options("W:x", arguments);
    if (!line) return tl::unexpected(line.error());
    QdelOptions options;
    for (const Option& option : line->options)
        if (option.letter == 'x')
            options.history = true;
        else if (auto applied = apply(options, option.value); !applied)
            return tl::unexpected(applied.error());
    options.jobs = line->all_operands();
    if (options.jobs.empty()) return fail("no job identifier");
    return options;
}

long long allowed_mails(const QdelOptions& options, std::string_view default_arguments) {
    if (options.mails && *options.mails != 0) return *options.mails;
    const auto standard = suppression(default_arguments);
    return standard && *standard != 0 ? *standard : kMailsByDefault;
}

std::string qdel_extend(const QdelOptions& options, long long mails, std::size_t index) {
    const bool mail = mails >= 0 && index < static_cast<std::size_t>(mails);
    std::string extend = mail ? "" : NOMAIL;
    extend += options.force ? FORCE : "";
    extend += options.history ? DELETEHISTORY : "";
    return extend;
}

}  // namespace pbs::cmds
