// Reads the arguments of an Origin scheduler's options, by type. Internal to migrate/.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "migrate/configfile.h"

namespace pbs::migrate {

// Converts an option's argument to the text of the attribute's value. The error says what was expected
// instead: "a time HH:MM:SS".
tl::expected<std::string, std::string> read_argument(ArgumentType type, std::string_view text);

// Returns whether the text is false, no, off or 0, the words for false in the Origin scheduler's documents.
// The scheduler reads every word that isn't true as false, but another word is more likely a slip.
bool plainly_false(std::string_view text);

}  // namespace pbs::migrate
