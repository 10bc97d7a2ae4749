// Reads and writes JSON documents. nlohmann's reader and writer are templates that take a compiler seconds in
// each file that calls them, so all files call these functions instead.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::text {

struct JsonError {
    std::size_t byte = 0;  // position, from 1, where the text stops being JSON; 0: a number is too large for
                           // a double
    std::string message;   // nlohmann's own
};

// Reads the text as one value, with the keys of objects in alphabetical order.
tl::expected<nlohmann::json, JsonError> read_json(std::string_view text);

// Reads a text like read_json(). A text that isn't JSON gives a value that is_discarded().
nlohmann::json parse_json(std::string_view text);
// Reads a text like parse_json(), with the keys of objects in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);
// Reads a text like parse_ordered_json(). A text that isn't JSON becomes a JSON string.
nlohmann::ordered_json json_or_string(std::string_view text);

// Writes the value in one line (`indent` -1), or a line for each member, indented by `indent` blanks a level.
// Bytes that aren't UTF-8 are replaced by U+FFFD.
std::string write_json(const nlohmann::json& json, int indent = -1);
std::string write_json(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace pbs::text
