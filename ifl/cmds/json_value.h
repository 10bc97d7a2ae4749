// How values of attributes are shown in the JSON of -F json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// A number where that tells the whole text: a minus perhaps, digits, and a decimal point and digits perhaps;
// at most 15 digits in all, no zero first or last that doesn't count. All else is a string: "005", "1e5",
// "1.50",
// "-0", "10mb". So a program that reads the number has what PBS has, and nothing of a text is lost.
nlohmann::ordered_json json_value(std::string_view text);

// Adds a value to an object. Values of one key stay beside each other, since JSON's keys are read once:
// limits of users and groups as one text, "[u:ann=5],[g:phys=9]", as OpenPBS has those of queues; others as
// an array.
void add_json(nlohmann::ordered_json& object, const std::string& key, nlohmann::ordered_json value);

// The same for an attribute, whose resource, if it has one, is a key within the attribute's object.
void add_json(nlohmann::ordered_json& object, const attrl& attribute, nlohmann::ordered_json value);

}  // namespace pbs::cmds
