// Lists the methods of authentication, by which a server learns the user of a TCP connection (ifl/auth.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

inline constexpr const char* kReservedPortMethod = "resvport";
inline constexpr const char* kMungeMethod = "munge";

/// The privileged ports that clients use. Lower ones belong to services such as FTP's, which send whatever
/// users give them.
inline constexpr std::uint16_t kFirstReservedPort = 512;
inline constexpr std::uint16_t kLastReservedPort = 1023;

/// The methods that a server accepts.
struct AuthMethods {
    bool reserved_port = true;  ///< includes other servers, which need no helper
    bool munge = false;
};

/// The name of a method in lower case; OpenPBS accepts any case of letters.
std::string method_name(std::string_view text);

/// Reads "resvport", "munge" or both separated by a comma, in any case of letters. Errors: PBSE_NOSUP, naming
/// the word.
Result<AuthMethods> parse_auth_methods(std::string_view list);

}  // namespace pbs::ifl
