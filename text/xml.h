// Converts text to the form that XML and HTML have between tags and in attributes, and back: '&', '<', '>',
// '"' and "'" become entities.
#pragma once

#include <string>
#include <string_view>

namespace pbs::text {

std::string to_xml(std::string_view text);
// Reads text with these entities. Any other entity stays as it is.
std::string from_xml(std::string_view xml);

}  // namespace pbs::text
