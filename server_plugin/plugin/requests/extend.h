// Reads the extend string of a status request, such as "type=policy;limit=10".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "objects/error.h"
#include "values/number.h"

namespace pbs::plugin {

// Reads a whole number of at least 0. Errors: bad_value.
inline objects::Result<std::int64_t> extend_number(std::string_view key, std::string_view text) {
    const auto number = values::number<std::int64_t>(text);
    if (!number || *number < 0) {
        return objects::fail(objects::Code::bad_value,
                             fmt::format("{}: bad value '{}': expected a whole number of 0 to {}", key, text,
                                         std::numeric_limits<std::int64_t>::max()));
    }
    return *number;
}

inline tl::unexpected<objects::Error> unknown_key(std::string_view key, std::string_view known) {
    return objects::fail(objects::Code::invalid_request,
                         fmt::format("unknown key '{}' in the extend string: expected {}", key, known));
}

// Calls take(key, value) for each part between semicolons, until a call returns an error. A part without "="
// has an empty value.
template <class Take>
objects::Result<void> read_extend(std::string_view extend, Take take) {
    while (!extend.empty()) {
        const std::string_view part = extend.substr(0, extend.find(';'));
        extend.remove_prefix(part.size() < extend.size() ? part.size() + 1 : part.size());
        const std::size_t equals = part.find('=');
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
        objects::Result<std::int64_t> taken = take(part.substr(0, equals), value);
        if (!taken) return tl::unexpected(taken.error());
    }
    return {};
}

}  // namespace pbs::plugin
