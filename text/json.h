// Strings in JSON. A string that isn't UTF-8 is written as an object of its bytes in hexadecimal:
// {"hex":"e9"}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::text {

void append_json(std::string& out, std::string_view text);
// Returns the string as JSON, such as "\"5\"".
std::string to_json(std::string_view text);
// Reads the string back. nullopt: the JSON is neither a string nor an object {"hex": ...}.
std::optional<std::string> from_json(const nlohmann::json& json);

}  // namespace pbs::text
