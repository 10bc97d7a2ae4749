#include "server_plugin/host/base/key_value.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "values/number.h"

namespace pbs::host {

namespace {

void escape(std::string_view value, std::string& to) {
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte == '%' || byte == 0x7f)
            to += fmt::format("%{:02X}", byte);
        else
            to += c;
    }
}

// Appends `value` to `to`, with each %XX replaced by its byte. Returns false if a '%' isn't followed by two
// hexadecimal digits.
bool unescape(std::string_view value, std::string& to) {
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] != '%') {
            to += value[i];
            continue;
        }
        if (i + 2 >= value.size()) return false;
        const auto byte = values::number<unsigned char>(value.substr(i + 1, 2), 16);
        if (!byte) return false;
        to += static_cast<char>(*byte);
        i += 2;
    }
    return true;
}

}  // namespace

std::string write_key_values(const KeyValues& values) {
    std::string text;
    for (const auto& [key, value] : values) {
        text += key;
        text += '=';
        escape(value, text);
        text += '\n';
    }
    return text;
}

Result<KeyValues> parse_key_values(std::string_view text, std::string_view name) {
    KeyValues values;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        if (end == text.npos) return fail(PBSE_INTERNAL, fmt::format("{}: line {} has no end", name, number));
        const auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const auto equals = line.find('=');
        if (equals == line.npos || equals == 0)
            return fail(PBSE_INTERNAL, fmt::format("{}: line {}: expected key=value", name, number));
        std::string value;
        if (!unescape(line.substr(equals + 1), value))
            return fail(PBSE_INTERNAL,
                        fmt::format("{}: line {}: '%' without two hexadecimal digits", name, number));
        values.emplace_back(line.substr(0, equals), std::move(value));
    }
    return values;
}

Result<std::int64_t> parse_number(std::string_view key, std::string_view text) {
    if (const auto number = values::number<std::int64_t>(text)) return *number;
    return fail(PBSE_INTERNAL, fmt::format("{}=\"{}\": expected a whole number", key, text));
}

}  // namespace pbs::host
