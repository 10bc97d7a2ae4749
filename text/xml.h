// Text as XML and HTML write it between tags and in attributes: '&', '<', '>', '"' and "'" become entities.
#pragma once

#include <string>
#include <string_view>

namespace pbs::text {

std::string to_xml(std::string_view text);
// Reads text with entities. Entities other than these five stay as they are.
std::string from_xml(std::string_view xml);

}  // namespace pbs::text
