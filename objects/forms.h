// Reads strings by their syntax. Each function reads one string (or one element of a list) and returns its
// canonical text, or a remark on the mistake. value.cc adds the attribute and the value to the error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "objects/schema.h"

namespace pbs::objects {

// A canonical text, or a remark on the mistake, which the message gives beside the expected form. The remark
// may be empty.
using Form = tl::expected<std::string, std::string>;

// Returns the canonical text of a string by the attribute's syntax. If the syntax is one of lists, `text` is
// one element. If values of the syntax aren't strings, returns the text unchanged.
Form canonical_string(const Attribute& attribute, std::string_view text);

// Returns the place of the first control character; npos: there is none.
std::size_t control_character(std::string_view text);

bool is_queue_name(std::string_view text);
bool is_resource_name(std::string_view text);
bool is_host_name(std::string_view text);

}  // namespace pbs::objects
