// Texts in JSON. Values are bytes: one that isn't UTF-8, which JSON can't hold, is {"hex": "e9"}.
#ifndef PBSPOLICY_HOST_JSON_TEXT_H
#define PBSPOLICY_HOST_JSON_TEXT_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::host {

using Json = nlohmann::json;

Json json_of_text(std::string_view text);
// json_of_text() as a text: "\"5\"".
std::string json_text(std::string_view text);
// nullopt: it is neither a string nor bytes.
std::optional<std::string> text_of_json(const Json& json);

}  // namespace pbs::host

#endif
