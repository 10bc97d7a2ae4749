// Texts of error numbers.
#pragma once

#include <string_view>

namespace pbs::ifl {

/// The text of a PBS error number (ifl/pbs_error.h), such as "Unknown Job Id" for 15001; empty for an unknown
/// number. It lives as long as the program. 15212 stands for an unknown policy object; a server that means a
/// scheduler's name that is too long sends its own text.
std::string_view error_text(int code);

}  // namespace pbs::ifl
