// Converts values of attributes to JSON, for the output of -F json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// Returns a number, if its JSON text is the same as `text`: an optional minus, digits, and optionally a
// decimal point and digits; at most 15 digits in all, without superfluous zeros first or last. Anything else
// becomes a string: "005", "1e5", "1.50", "-0", "10mb". So a program that reads the number has PBS's value,
// and no text is lost.
nlohmann::ordered_json json_value(std::string_view text);

// Adds a value to an object. Several values of one key are joined, because JSON readers take one value of a
// key: limits of users and groups become one text, "[u:ann=5],[g:phys=9]", as OpenPBS has it for queues;
// others become an array.
void add_json(nlohmann::ordered_json& object, const std::string& key, nlohmann::ordered_json value);

// Adds an attribute's value; if it has a resource, under that key in the attribute's object.
void add_json(nlohmann::ordered_json& object, const attrl& attribute, nlohmann::ordered_json value);

}  // namespace pbs::cmds
