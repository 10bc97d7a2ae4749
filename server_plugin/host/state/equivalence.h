// Who of another host is who on this one: /etc/hosts.equiv, by which OpenPBS's server goes too.
#pragma once

#include <istream>
#include <string>
#include <string_view>

namespace pbs::host {

// A line is a host, whose users have the same names here; or a host and a user, who may be anybody here but
// root, whom no line is about. "-" before a host denies all of it. Of lines that name the host and the user
// the first one counts. Names are compared whole; "+" and "@" of netgroups fit nobody.
bool is_equivalent(std::istream& file, std::string_view user, std::string_view host, std::string_view as);

// By /etc/hosts.equiv, or the file given, if it is root's and nobody else may write it.
bool is_equivalent(std::string_view user, std::string_view host, std::string_view as,
                   const std::string& path = "/etc/hosts.equiv");

}  // namespace pbs::host
