#include "server_plugin/openpbs/amount.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {
namespace {

constexpr double kMillion = 1e6;

std::int64_t size_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return 0;
    std::uint64_t unit = 1;
    constexpr std::string_view kPrefixes = "kmgtp";
    for (const char* at = end; at != text.data() + text.size(); ++at) {
        const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
        if (const auto power = kPrefixes.find(c); power != std::string_view::npos) {
            unit <<= 10 * (power + 1);
        } else if (c == 'w') {
            unit *= sizeof(long);
        } else if (c != 'b') {
            return 0;
        }
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(number > kMost / unit ? kMost : number * unit);
}

// [[HH:]MM:]SS
std::int64_t duration_of(std::string_view text) {
    std::int64_t total = 0;
    std::string_view rest = text.substr(0, text.find('.'));
    for (;;) {
        const auto colon = rest.find(':');
        total = total * 60 + number_of(rest.substr(0, colon), 0);
        if (colon == std::string_view::npos) return total;
        rest.remove_prefix(colon + 1);
    }
}

std::int64_t millionths_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool sane = error == std::errc{} && std::isfinite(value) && std::fabs(value) < 9e12;
    return sane ? std::llround(value * kMillion) : 0;
}

}  // namespace

std::int64_t number_of(std::string_view text, std::int64_t otherwise) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

bool truth_of(std::string_view text) {
    return text == "True" || text == "1";
}

bool is_text(int kind) {
    return kind == PBS_RES_STRING || kind == PBS_RES_STRING_ARRAY;
}

std::int64_t amount_of(int kind, std::string_view value) {
    switch (kind) {
        case PBS_RES_FLOAT:
            return millionths_of(value);
        case PBS_RES_SIZE:
            return size_of(value);
        case PBS_RES_DURATION:
            return duration_of(value);
        case PBS_RES_BOOLEAN:
            return truth_of(value) ? 1 : 0;
        case PBS_RES_LONG:
            return number_of(value, 0);
        default:
            return 0;
    }
}

std::string amount_text(int kind, std::int64_t amount) {
    switch (kind) {
        case PBS_RES_FLOAT:
            return fmt::format("{}", static_cast<double>(amount) / kMillion);
        case PBS_RES_SIZE:
            return fmt::format("{}kb", amount / 1024 + (amount % 1024 != 0 ? 1 : 0));
        case PBS_RES_DURATION:
            return fmt::format("{:02}:{:02}:{:02}", amount / 3600, amount / 60 % 60, amount % 60);
        case PBS_RES_BOOLEAN:
            return amount != 0 ? "True" : "False";
        default:
            return fmt::format("{}", amount);
    }
}

}  // namespace pbs::openpbs
