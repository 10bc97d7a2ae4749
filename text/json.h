// Strings in JSON: bytes, of which those that aren't UTF-8 are {"hex":"e9"}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::text {

void append_json(std::string& out, std::string_view text);
// The same by itself: "\"5\"".
std::string to_json(std::string_view text);
// nullopt: it is neither a string nor such bytes.
std::optional<std::string> from_json(const nlohmann::json& json);

}  // namespace pbs::text
