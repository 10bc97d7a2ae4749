// Files of "key=value" lines, which the runner and its shepherds write and read. In a value, control
// characters and '%' are written as %XX (two hexadecimal digits), so that any bytes fit on a line. A key that
// comes several times has a list of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

std::string write_key_values(const KeyValues& values);

// Parses such lines. Errors name the file (`name`), the line and what is wrong with it.
Result<KeyValues> parse_key_values(std::string_view text, std::string_view name);

// Reads a decimal integer that fills the text. `key` goes into the error's message.
Result<std::int64_t> parse_number(std::string_view key, std::string_view text);

}  // namespace pbs::host
