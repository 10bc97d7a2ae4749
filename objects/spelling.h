// Suggests names for misspelled ones.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "objects/schema.h"

namespace pbs::objects {

// Returns whether two words differ by at most two changed, inserted or removed letters.
bool nearly_same(std::string_view a, std::string_view b);

// Returns the word of `words` that is nearest to a misspelled one, in any case of letters; empty: none is
// nearly the same, or the misspelled word has fewer than four letters.
std::string_view nearest(std::string_view misspelled, std::span<const std::string_view> words);

// Returns "; did you mean strict_ordering?" for a name that no attribute of the type has; empty: no name is
// similar.
std::string did_you_mean(ObjectType type, std::string_view misspelled);

}  // namespace pbs::objects
