// Strings in JSON: bytes, of which those that aren't UTF-8 are {"hex":"e9"}.
#ifndef PBSPOLICY_REPLAY_JSON_TEXT_H
#define PBSPOLICY_REPLAY_JSON_TEXT_H

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::replay {

void append_json_text(std::string& out, std::string_view text);
// Nothing if it is no string.
std::optional<std::string> text_of(const nlohmann::json& json);

}  // namespace pbs::replay

#endif
