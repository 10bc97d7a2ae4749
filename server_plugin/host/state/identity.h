// Who asks, and what he may do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/identity.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

enum Privilege : uint32_t {
    privilege_none = 0,
    privilege_operator = 1,
    privilege_manager = 2,
    privilege_root = 4
};

using cluster::Identity;

// The privilege of user@host: root, and the user who runs the server (`starter`), are managers on the
// server's own host; the others as the server's managers and operators lists say.
uint32_t privilege_of(const State& state, std::string_view starter, std::string_view user,
                      std::string_view host);

// The name of a peer whose address isn't this machine's: its name in the DNS, or its address where that name
// is the server's own host, whole or short. Otherwise whoever runs the DNS could choose who is root here.
std::string name_of_other_host(const State& state, std::string name, std::string address);

enum class AclKind { user, host, group };

// Does the list allow `name` ("user@host", "host" or "group")? "-" before an entry denies, "+" or nothing
// allows; a "+" or "-" alone is for everybody whom no entry fits (without one: denied). The entry that fits
// closest decides, as by the order in which PBS keeps such lists: an entry that names the user before one for
// all users, then one that names the host, then a longer before a shorter domain. Of entries that fit equally
// the first decides.
//
// A user entry is user@host, user (at every host), or @host and *@host (every user there). A host is a whole
// name as the server knows it, "*", or "*.domain" (".domain") for all hosts below the domain; a short name
// never fits a host with a domain.
bool acl_allows(const std::vector<std::string>& entries, std::string_view name, AclKind kind);

// Is this entry of managers or operators well-formed: user@host, user@*.domain, user@*, or @host for every
// user of one host, each with or without "+" or "-" before it?
bool legal_manager_entry(std::string_view entry);

// The value for `host` in a list of "value@host" and bare values, such as User_List, group_list or
// Shell_Path_List: the value of the entry that names it, else the last bare one, else empty.
std::string entry_for_host(const std::vector<std::string>& entries, std::string_view host);

}  // namespace pbs::host
