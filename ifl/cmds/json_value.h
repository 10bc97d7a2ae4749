// How values of attributes are shown in the JSON of -F json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace pbs::cmds {

// A number where that tells the whole text: a minus perhaps, digits, and a decimal point and digits perhaps;
// at most 15 digits in all, no zero first or last that doesn't count. All else is a string: "005", "1e5",
// "1.50",
// "-0", "10mb". So a program that reads the number has what PBS has, and nothing of a text is lost.
nlohmann::ordered_json json_value(std::string_view text);

}  // namespace pbs::cmds
