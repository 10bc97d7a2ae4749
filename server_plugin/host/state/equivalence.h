// Maps users of other hosts to users of this host by /etc/hosts.equiv, which OpenPBS's server uses, too.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace pbs::host {

// Returns whether user@host may act as the user `as` of this host, by the lines of `file`. A line with only a
// host permits each user of that host to act as the user of the same name. A line with a host and a user
// permits that user to act as anybody except root. No line permits root. "-" before a host denies all its
// users. The first line that names the host and the user decides. Names are compared completely; "+" and the
// "@" of netgroups match nobody.
bool is_equivalent(std::istream& file, std::string_view user, std::string_view host, std::string_view as);

// Does the same with the file at `path`. The file permits nothing if it doesn't belong to root, or if other
// users may write to it.
bool is_equivalent(std::string_view user, std::string_view host, std::string_view as,
                   const std::string& path = "/etc/hosts.equiv");

}  // namespace pbs::host
