// Texts of other people's files and settings, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pbs::rrule {

// The text on one line, as UTF-8 with nothing that a terminal would act on: control characters (C0 and C1),
// line separators and the marks that turn the direction of writing are blanks. A byte that isn't UTF-8 is
// taken as ISO 8859-1, in which older calendar programs wrote.
std::string plain_text(std::string_view text);

// plain_text() as XML and HTML have it (text/xml.h).
std::string markup_text(std::string_view text);

// The first characters of a text of UTF-8, as many as fit into this number of bytes.
std::string shortened(std::string text, std::size_t bytes);

}  // namespace pbs::rrule
