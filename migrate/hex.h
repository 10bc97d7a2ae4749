// Bytes as text that a request can have: those of a file that is none. Internal to migrate/ and to whoever
// takes its requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pbs::migrate {

// Two digits a byte, 0 to 9 and a to f.
std::string to_hex(std::string_view bytes);
// nullopt: an odd number of digits, or another character. Capitals are read too.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace pbs::migrate
