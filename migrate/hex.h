// The bytes of a binary file as text, for a request, which holds text only. Used by migrate/ and by the
// server, which takes its requests.
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
