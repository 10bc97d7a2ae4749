#include "text/json_document.h"

#include <nlohmann/json.hpp>

namespace pbs::text {

tl::expected<nlohmann::json, JsonError> read_json(std::string_view text) {
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        return tl::unexpected(JsonError{error.byte, error.what()});
    } catch (const nlohmann::json::exception& error) {
        return tl::unexpected(JsonError{0, error.what()});
    }
}

nlohmann::json parse_json(std::string_view text) {
    return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
    return nlohmann::ordered_json::parse(text, nullptr, false);
}

nlohmann::ordered_json json_or_string(std::string_view text) {
    nlohmann::ordered_json json = parse_ordered_json(text);
    return json.is_discarded() ? nlohmann::ordered_json(std::string(text)) : json;
}

std::string write_json(const nlohmann::json& json, int indent) {
    return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string write_json(const nlohmann::ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pbs::text
