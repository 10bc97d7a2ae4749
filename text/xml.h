// Text as XML and HTML have it between tags and in attributes: '&', '<', '>', '"' and "'" are entities.
#pragma once

#include <string>
#include <string_view>

namespace pbs::text {

std::string to_xml(std::string_view text);
// Other entities stay as they are.
std::string from_xml(std::string_view xml);

}  // namespace pbs::text
