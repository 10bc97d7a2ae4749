// How values of attributes are shown in the JSON of -F json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace pbs::cmds {

// A number where the text is one as JSON writes numbers, "5" or "1.5"; else the text as a string: "007",
// "10mb".
nlohmann::ordered_json json_value(std::string_view text);

}  // namespace pbs::cmds
