#include "server_plugin/host/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "ifl/pbs_error.h"
#include "text/variable_list.h"

namespace pbs::host {
namespace {

tl::unexpected<Error> bad_value(std::string_view value, std::string_view expected) {
    return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected {}", value, expected));
}

Result<int64_t> whole_number(std::string_view text) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return bad_value(text, "a whole number");
    return number;
}

Result<std::string> canonical_boolean(std::string_view value) {
    for (std::string_view yes : {"true", "t", "y", "yes", "1"})
        if (same_name(value, yes)) return "True";
    for (std::string_view no : {"false", "f", "n", "no", "0"})
        if (same_name(value, no)) return "False";
    return bad_value(value, "True or False");
}

struct Size {
    uint64_t number = 0;
    int shift = 0;
    bool words = false;
};

Result<Size> parse_size(std::string_view text) {
    Size size;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size.number);
    if (error != std::errc()) return bad_value(text, "a size such as 400mb");
    std::string rest = lower(std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)));
    constexpr std::string_view kPrefixes = "kmgtp";
    if (!rest.empty()) {
        auto at = kPrefixes.find(rest.front());
        if (at != std::string_view::npos) {
            size.shift = 10 * (static_cast<int>(at) + 1);
            rest.erase(0, 1);
        }
    }
    if (rest == "w") {
        size.words = true;
    } else if (!rest.empty() && rest != "b") {
        return bad_value(text, "a size such as 400mb");
    }
    const uint64_t unit = (uint64_t{1} << size.shift) * (size.words ? 8 : 1);
    if (size.number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / unit)
        return bad_value(text, "a size below 8192 pb");
    return size;
}

std::string size_text(const Size& size) {
    constexpr std::string_view kPrefixes = "kmgtp";
    std::string out = fmt::format("{}", size.number);
    if (size.shift > 0) out += kPrefixes[static_cast<size_t>(size.shift / 10 - 1)];
    out += size.words ? 'w' : 'b';
    return out;
}

// [[HH:]MM:]SS, with an optional fraction that is dropped, as PBS takes it.
Result<int64_t> parse_duration(std::string_view text) {
    std::string_view rest = text.substr(0, text.find('.'));
    int64_t total = 0;
    int parts = 0;
    while (true) {
        const auto colon = rest.find(':');
        auto part = whole_number(rest.substr(0, colon));
        if (!part || *part < 0 || *part > 100'000'000'000 || ++parts > 3)
            return bad_value(text, "a duration such as 01:30:00, or seconds");
        total = total * 60 + *part;
        if (colon == std::string_view::npos) return total;
        rest.remove_prefix(colon + 1);
    }
}

std::string duration_text(int64_t seconds) {
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

Result<double> parse_real(std::string_view text) {
    double number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
        std::fabs(number) > 9e12)
        return bad_value(text, "a number");
    return number;
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
    switch (type) {
        case Type::integer:
            return whole_number(trimmed(value)).map([](int64_t n) { return fmt::format("{}", n); });
        case Type::real:
            return parse_real(trimmed(value)).map(real_text);
        case Type::size:
            return parse_size(trimmed(value)).map(size_text);
        case Type::duration:
            return parse_duration(trimmed(value)).map(duration_text);
        case Type::boolean:
            return canonical_boolean(trimmed(value));
        case Type::hold:
            return canonical_hold(trimmed(value));
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
            return whole_number(value).value_or(0);
        case Type::real:
            return std::llround(parse_real(value).value_or(0) * 1e6);
        case Type::size: {
            auto size = parse_size(value);
            if (!size) return 0;
            return static_cast<int64_t>((size->number << size->shift) * (size->words ? 8 : 1));
        }
        case Type::duration:
            return parse_duration(value).value_or(0);
        case Type::boolean:
            return value == "True" ? 1 : 0;
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
            return duration_text(amount);
        case Type::boolean:
            return amount != 0 ? "True" : "False";
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
        const auto kept = trimmed(part);
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

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string join_list(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, ","));
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return out;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace pbs::host
