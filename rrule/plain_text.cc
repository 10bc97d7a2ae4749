#include "rrule/plain_text.h"

#include <cstddef>

#include "text/xml.h"

namespace pbs::rrule {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// The first character of a text, and its length in bytes; 0 bytes if they aren't UTF-8 (RFC 3629).
struct Character {
    unsigned code = 0;
    std::size_t bytes = 0;
};
Character first_character(std::string_view text) {
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    static constexpr unsigned kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
    if (lead < 0xC2 || lead > 0xF4) return {};
    unsigned code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte_at(text, i) & 0xC0U) != 0x80) return {};
        code = code << 6U | (byte_at(text, i) & 0x3FU);
    }
    if (code < kFirst[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
    return {code, bytes};
}

bool is_acted_on(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF || (code & 0xFFFEU) == 0xFFFE;
}

}  // namespace

std::string plain_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Character c = first_character(text);
        const unsigned latin = byte_at(text, 0);
        if (is_acted_on(c.bytes > 0 ? c.code : latin)) {
            out += ' ';
        } else if (c.bytes > 0) {
            out += text.substr(0, c.bytes);
        } else {
            out += static_cast<char>(0xC0U | latin >> 6U);
            out += static_cast<char>(0x80U | (latin & 0x3FU));
        }
        text.remove_prefix(c.bytes > 0 ? c.bytes : 1);
    }
    return out;
}

std::string markup_text(std::string_view text) {
    return pbs::text::to_xml(plain_text(text));
}

std::string shortened(std::string text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (byte_at(text, bytes) & 0xC0U) == 0x80) --bytes;
    text.resize(bytes);
    return text;
}

}  // namespace pbs::rrule
