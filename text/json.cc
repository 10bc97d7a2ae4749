#include "text/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/hex.h"

namespace pbs::text {

void append_json(std::string& out, std::string_view text) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::ranges::all_of(text, plain)) {
        out.append("\"").append(text).append("\"");
        return;
    }
    try {
        out += nlohmann::json(std::string(text)).dump();
    } catch (const nlohmann::json::type_error&) {  // not UTF-8
        out.append(R"({"hex":")").append(to_hex(text)).append("\"}");
    }
}

std::string to_json(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
}

std::optional<std::string> from_json(const nlohmann::json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object() || json.size() != 1) return std::nullopt;
    const auto hex = json.find("hex");
    return hex == json.end() || !hex->is_string() ? std::nullopt
                                                  : from_hex(hex->get_ref<const std::string&>());
}

}  // namespace pbs::text
