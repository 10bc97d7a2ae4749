// What a misspelled name was perhaps meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "objects/schema.h"

namespace pbs::objects {

// Do two words differ by at most two letters that are changed, inserted or removed?
bool nearly_same(std::string_view a, std::string_view b);

// The one of `words` that a misspelled one is nearest to, whatever the case of letters; empty: none is nearly
// the same. A word of less than four letters is near to nothing.
std::string_view nearest(std::string_view misspelled, std::span<const std::string_view> words);

// "; did you mean strict_ordering?" for what isn't an attribute of the type, or nothing.
std::string did_you_mean(ObjectType type, std::string_view misspelled);

}  // namespace pbs::objects
