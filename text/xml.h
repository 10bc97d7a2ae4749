// Text as XML and HTML have it between tags and in attributes: '&', '<', '>', '"' and "'" are entities.
#ifndef PBSPOLICY_TEXT_XML_H
#define PBSPOLICY_TEXT_XML_H

#include <string>
#include <string_view>

namespace pbs::text {

std::string to_xml(std::string_view text);
// Other entities stay as they are.
std::string from_xml(std::string_view xml);

}  // namespace pbs::text

#endif
