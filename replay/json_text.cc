#include "replay/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace pbs::replay {

void append_json_text(std::string& out, std::string_view text) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (std::ranges::all_of(text, plain)) {
        out.append("\"").append(text).append("\"");
        return;
    }
    try {
        out += nlohmann::json(std::string(text)).dump();
    } catch (const nlohmann::json::type_error&) {  // not UTF-8
        out += R"({"hex":")";
        for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
        out += "\"}";
    }
}

std::optional<std::string> text_of(const nlohmann::json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object() || json.size() != 1) return std::nullopt;
    const auto found = json.find("hex");
    if (found == json.end() || !found->is_string()) return std::nullopt;
    const auto& hex = found->get_ref<const std::string&>();
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned value = 0;
        const char* const end = hex.data() + std::min(i + 2, hex.size());
        const auto [stop, error] = std::from_chars(hex.data() + i, end, value, 16);
        if (error != std::errc{} || stop != hex.data() + i + 2) return std::nullopt;
        bytes += static_cast<char>(value);
    }
    return bytes;
}

}  // namespace pbs::replay
