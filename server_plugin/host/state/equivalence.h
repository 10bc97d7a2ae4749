// Maps users of other hosts to users of this host by /etc/hosts.equiv, which OpenPBS's server uses, too.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace pbs::host {

// May user@host act as the user `as`? A line of the file has a host, whose users have the same names here; or
// a host and a user, who may act as any user here except root. No line permits root. "-" before a host denies
// all of it. The first line that names the host and the user decides. Names are compared completely; "+" and
// "@" of netgroups match nobody.
bool is_equivalent(std::istream& file, std::string_view user, std::string_view host, std::string_view as);

// The same by the file `path`, which counts only if it belongs to root and nobody else may write it.
bool is_equivalent(std::string_view user, std::string_view host, std::string_view as,
                   const std::string& path = "/etc/hosts.equiv");

}  // namespace pbs::host
