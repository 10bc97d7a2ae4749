// Texts of error numbers.
#pragma once

#include <string_view>

namespace pbs::ifl {

/// The text for a PBS error number (ifl/pbs_error.h), such as "Unknown Job Id" for 15001; empty for an
/// unknown number. A static text. The text of 15212 is about an unknown policy object; a server that means
/// its other sense sends its own text.
std::string_view error_text(int code);

}  // namespace pbs::ifl
