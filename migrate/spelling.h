// What a misspelled name was perhaps meant to be. Internal to migrate/.
#pragma once

#include <string_view>

namespace pbs::migrate {

// Do two words differ by at most two letters that are changed, inserted or removed?
bool nearly_same(std::string_view a, std::string_view b);

}  // namespace pbs::migrate
