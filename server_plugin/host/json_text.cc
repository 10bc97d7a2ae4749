#include "server_plugin/host/json_text.h"

#include <fmt/format.h>

#include <charconv>

namespace pbs::host {
namespace {

std::optional<std::string> from_hex(std::string_view hex) {
    if (hex.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned char byte = 0;
        const auto read = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
        if (read.ec != std::errc{} || read.ptr != hex.data() + i + 2) return std::nullopt;
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

}  // namespace

Json json_of_text(std::string_view text) {
    Json json = std::string(text);
    try {
        (void)json.dump();
        return json;
    } catch (const Json::type_error&) {  // not UTF-8
        std::string hex;
        for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
        return Json{{"hex", hex}};
    }
}

std::string json_text(std::string_view text) {
    return json_of_text(text).dump();
}

std::optional<std::string> text_of_json(const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object() || json.size() != 1 || !json.contains("hex") || !json["hex"].is_string())
        return std::nullopt;
    return from_hex(json["hex"].get_ref<const std::string&>());
}

}  // namespace pbs::host
