#include "server_plugin/host/state/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/variable_list.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// The largest real number that an amount can hold: amounts are stored in millionths.
constexpr double kLargestReal = 9e12;

tl::unexpected<Error> bad_value(std::string_view value, std::string_view expected) {
    return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected {}", value, expected));
}

Result<std::string> canonical_hold(std::string_view value) {
    std::string out;
    for (char type : std::string_view("uosp")) {
        if (value.find(type) != std::string_view::npos) out += type;
    }
    for (char c : value) {
        if (std::string_view("uospn").find(c) == std::string_view::npos)
            return bad_value(value, "hold types out of u, o, s, p, or n");
    }
    return out.empty() ? "n" : out;
}

Result<std::string> canonical_acl(std::string_view value) {
    std::vector<std::string> entries;
    for (std::string& entry : split_list(value)) {
        if (std::find(entries.begin(), entries.end(), entry) != entries.end())
            return fail(PBSE_DUPLIST, fmt::format("Duplicate entry in list \"{}\"", entry));
        entries.push_back(std::move(entry));
    }
    return join_list(entries);
}

}  // namespace

Result<std::string> canonical(Type type, std::string_view value) {
    if (value.find('\0') != std::string_view::npos) return bad_value("...", "a text without NUL bytes");
    const std::string_view word = values::trim(value);
    switch (type) {
        case Type::integer:
            if (const auto number = values::parse_integer(word)) return fmt::format("{}", *number);
            return bad_value(value, values::kIntegerForm);
        case Type::real:
            if (const auto number = values::parse_real(word); number && std::fabs(*number) <= kLargestReal)
                return values::real_text(*number);
            return bad_value(value, values::kRealForm);
        case Type::size: {
            const auto size = values::parse_size(word);
            if (!size) return bad_value(value, values::kSizeForm);
            return size->too_large() ? bad_value(value, "a size below 8192pb")
                                     : Result<std::string>(size->text());
        }
        case Type::duration:
            if (const auto seconds = values::parse_duration(word)) return values::duration_text(*seconds);
            return bad_value(value, values::kDurationForm);
        case Type::boolean:
            if (const auto truth = values::parse_boolean(word)) return values::boolean_text(*truth);
            return bad_value(value, values::kBooleanForm);
        case Type::hold:
            return canonical_hold(word);
        case Type::acl:
            return canonical_acl(value);
        case Type::list:
        case Type::limits:
        case Type::resource_limits:
            return join_list(split_list(value));
        case Type::text:
        case Type::resources:
            return std::string(value);
        // A list of variables becomes the text that OpenPBS's server shows, in whichever form the client sent
        // it.
        case Type::environment:
            return text::variable_list(text::parse_variables(value));
    }
    return bad_value(value, "a value of a known type");
}

static_assert(static_cast<int>(Type::integer) == PBS_RES_LONG &&
              static_cast<int>(Type::real) == PBS_RES_FLOAT && static_cast<int>(Type::size) == PBS_RES_SIZE &&
              static_cast<int>(Type::duration) == PBS_RES_DURATION &&
              static_cast<int>(Type::boolean) == PBS_RES_BOOLEAN &&
              static_cast<int>(Type::text) == PBS_RES_STRING &&
              static_cast<int>(Type::list) == PBS_RES_STRING_ARRAY);

std::string amount_text(Type type, int64_t amount) {
    if (type == Type::size && amount % 1024 != 0) return fmt::format("{}b", amount);
    return cluster::amount_text(static_cast<int>(type), amount);
}

bool is_amount(Type type) {
    return type == Type::integer || type == Type::real || type == Type::size || type == Type::duration;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    std::string part;
    auto finish = [&] {
        const auto kept = values::trim(part);
        if (!kept.empty()) parts.emplace_back(kept);
        part.clear();
    };
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
            part += text[i];
            part += text[++i];
        } else if (text[i] == ',') {
            finish();
        } else {
            part += text[i];
        }
    }
    finish();
    return parts;
}

std::string join_list(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace pbs::host
