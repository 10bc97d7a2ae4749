// The forms of string values: each reads one string (or one element of a list) and gives its canonical text,
// or what is wrong with it. value.cc puts attribute and value into the error.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "objects/schema.h"

namespace pbs::objects {

// A remark on what is wrong, put after "expected ..." in the error; may be empty.
using Form = tl::expected<std::string, std::string>;

// The canonical text of a string of this syntax. For syntaxes of lists: of one element. Syntaxes that aren't
// held as strings give the text back as it is.
Form canonical_string(const Attribute& attribute, std::string_view text);

bool is_queue_name(std::string_view text);
bool is_resource_name(std::string_view text);
bool is_host_name(std::string_view text);

}  // namespace pbs::objects
