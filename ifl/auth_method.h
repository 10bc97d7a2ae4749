// The methods by which a server over TCP is told who the user of a connection is (ifl/auth.h).
#pragma once

#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

inline constexpr const char* kReservedPortMethod = "resvport";
inline constexpr const char* kMungeMethod = "munge";

/// Which methods count.
struct AuthMethods {
    bool reserved_port = true;  ///< also for other servers, which need no helper
    bool munge = false;
};

/// The name of a method in lower case: OpenPBS reads such names in letters of any case.
std::string method_name(std::string_view text);

/// Reads "resvport", "munge" or both with a comma between them, in letters of any case. Errors: PBSE_NOSUP,
/// naming the word.
Result<AuthMethods> parse_auth_methods(std::string_view list);

}  // namespace pbs::ifl
