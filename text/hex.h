// Bytes as hexadecimal digits, where only text can stand: in a request, or in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pbs::text {

// Writes two digits for each byte, 0 to 9 and a to f.
std::string to_hex(std::string_view bytes);
// Reads hexadecimal digits, capital ones too. nullopt: the text has an odd number of digits, or another
// character.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace pbs::text
