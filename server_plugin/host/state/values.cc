#include "server_plugin/host/state/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "ifl/pbs_error.h"
#include "text/variable_list.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// Millionths of it fit into an amount.
constexpr double kLargestReal = 9e12;

tl::unexpected<Error> bad_value(std::string_view value, std::string_view expected) {
    return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected {}", value, expected));
}

// All digits, and no exponent: "1234567.5".
std::string real_text(double number) {
    std::array<char, 400> digits{};
    if (number == 0) return "0";
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
    return {digits.data(), end.ptr};
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
                return real_text(*number);
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
        // As OpenPBS's server shows it, however the client has written it.
        case Type::environment:
            return text::variable_list(text::parse_variables(value));
    }
    return bad_value(value, "a value of a known type");
}

int64_t amount_of(Type type, std::string_view value) {
    switch (type) {
        case Type::integer:
            return values::parse_integer(value).value_or(0);
        case Type::real:
            return values::parse_millionths(value).value_or(0);
        case Type::size:
            return values::parse_bytes(value).value_or(0);
        case Type::duration:
            return values::parse_duration(value).value_or(0);
        case Type::boolean:
            return values::parse_boolean(value).value_or(false) ? 1 : 0;
        default:
            return 0;
    }
}

std::string amount_text(Type type, int64_t amount) {
    switch (type) {
        case Type::real:
            return real_text(static_cast<double>(amount) / 1e6);
        case Type::size:
            return amount % 1024 == 0 ? fmt::format("{}kb", amount / 1024) : fmt::format("{}b", amount);
        case Type::duration:
            return values::duration_text(amount);
        case Type::boolean:
            return values::boolean_text(amount != 0);
        default:
            return fmt::format("{}", amount);
    }
}

bool is_amount(Type type) {
    return type == Type::integer || type == Type::real || type == Type::size || type == Type::duration;
}

int64_t amount_sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t amount_product(int64_t a, int64_t b) {
    int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
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
