// Texts from other people's files and settings, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pbs::rrule {

// The text on one line, as UTF-8 without anything that a terminal would act on: control characters (C0 and
// C1), line separators and marks that turn the direction of writing become blanks. A byte that isn't UTF-8 is
// read as ISO 8859-1, which older calendar programs wrote.
std::string plain_text(std::string_view text);

// plain_text(), escaped for XML and HTML (text/xml.h).
std::string markup_text(std::string_view text);

// The beginning of a UTF-8 text, in whole characters, that fits into this number of bytes.
std::string shortened(std::string text, std::size_t bytes);

}  // namespace pbs::rrule
