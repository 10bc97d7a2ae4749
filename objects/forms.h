// The syntaxes of string values. Each function reads one string (or one element of a list) and returns its
// canonical text or a remark on the mistake. value.cc adds attribute and value to the error.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "objects/schema.h"

namespace pbs::objects {

// The error is a remark that follows "expected ..." in the message; it may be empty.
using Form = tl::expected<std::string, std::string>;

// The canonical text of a string of the attribute's syntax; for list syntaxes, of one element. Text of a
// syntax that isn't held as a string is returned unchanged.
Form canonical_string(const Attribute& attribute, std::string_view text);

bool is_queue_name(std::string_view text);
bool is_resource_name(std::string_view text);
bool is_host_name(std::string_view text);

}  // namespace pbs::objects
