// The text of an error number.
#pragma once

#include <string_view>

namespace pbs::ifl {

/// What a user reads for a PBS error number (ifl/pbs_error.h), such as "Unknown Job Id" for 15001; empty when
/// the number is not known. A static text. 15212 reads as an unknown policy object; a server that means its
/// other sense sends a text of its own.
std::string_view error_text(int code);

}  // namespace pbs::ifl
