// Arguments of options, by type. Internal to migrate/.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "migrate/configfile.h"

namespace pbs::migrate {

// The text of the attribute's value that an argument means, or what was expected instead: "a time HH:MM:SS".
tl::expected<std::string, std::string> read_argument(ArgumentType type, std::string_view text);

// Whether a word is one that the Origin scheduler's documents use for false; any other word is false too, but
// more likely a slip.
bool plainly_false(std::string_view text);

}  // namespace pbs::migrate
