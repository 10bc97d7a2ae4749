#include "ifl/cmds/json_value.h"

#include <nlohmann/json.hpp>
#include <string>

#include "ifl/cmds/text.h"

namespace pbs::cmds {

nlohmann::ordered_json json_value(std::string_view text) {
    const bool maybe =
        !text.empty() && (is_digit(text.front()) || text.front() == '-') && is_digit(text.back());
    if (maybe) {
        auto number = nlohmann::ordered_json::parse(text, nullptr, false);
        if (number.is_number()) {
            return number;
        }
    }
    return std::string(text);
}

}  // namespace pbs::cmds
