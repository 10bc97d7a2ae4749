// Determines the rights of requesters.
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

// Returns the privilege of user@host. On the server's own host, root and the user who runs the server
// (`starter`) are managers. For others the server's lists of managers and operators decide.
uint32_t privilege_of(const State& state, std::string_view starter, std::string_view user,
                      std::string_view host);

// Returns the host name to use for a peer at an address that isn't this machine's. It is the peer's DNS name,
// or the address if that name is the server's own host, with or without a domain. Otherwise the DNS server's
// operator could make such a peer root here.
std::string name_of_other_host(const State& state, std::string name, std::string address);

enum class AclKind { user, host, group };

// Returns whether the list allows `name` ("user@host", "host" or "group"). "-" before an entry denies; "+" or
// no sign allows. An entry of "+" or "-" alone decides about names that no other entry matches; without it,
// such names are denied. The most specific matching entry decides, by the order in which PBS sorts such
// lists: an entry that names the user comes before one for all users, then one that names the host, then a
// longer domain before a shorter one. The first of equally specific entries decides.
//
// A user entry is user@host, user (at every host), or @host and *@host (every user there). A host is a
// complete name as the server knows it, "*", or "*.domain" (".domain") for all hosts below the domain; a
// short name never matches a host with a domain.
bool acl_allows(const std::vector<std::string>& entries, std::string_view name, AclKind kind);

// Returns whether an entry of managers or operators is well-formed: user@host, user@*.domain, user@*, or
// @host for every user of one host, each with or without "+" or "-" before it.
bool legal_manager_entry(std::string_view entry);

// Returns the value for `host` in a list of "value@host" and bare values, such as User_List, group_list or
// Shell_Path_List: the value of the entry that names the host, else the last bare value, else an empty text.
std::string entry_for_host(const std::vector<std::string>& entries, std::string_view host);

}  // namespace pbs::host
