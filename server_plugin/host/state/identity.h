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

// The name by which a peer at an address that isn't this machine's is known: the one that the DNS has for it,
// but its address where that is the name of the server's own host, whole or short. Whoever runs the DNS would
// otherwise choose who is root here.
std::string name_of_other_host(const State& state, std::string name, std::string address);

enum class AclKind { user, host, group };

// Does the list allow `name` ("user@host", "host" or "group")? "-" before an entry denies, "+" or nothing
// allows;
// "+" or "-" alone is for everybody whom no entry fits, who is denied without it. The entry that fits closest
// decides, as by the order in which PBS keeps such lists: one that names the user before one for all, then
// one that names the host before one with a longer and then a shorter domain. Of equals the first decides.
//
// A user entry is user@host, user (at every host), or @host and *@host (every user there). A host is a whole
// name as the server knows it, "*", or "*.domain" (".domain") for all below the domain; a short name is not
// that of a host with a domain, wherever it is.
bool acl_allows(const std::vector<std::string>& entries, std::string_view name, AclKind kind);

// Is this entry of managers or operators well-formed: user@host, user@*.domain, user@*, or @host for every
// user of one host; with "+" or "-" before it or without?
bool legal_manager_entry(std::string_view entry);

// The value for `host` in a list of "value@host" and bare values, such as User_List, group_list or
// Shell_Path_List: that of the entry with its name, else the last bare one, else empty.
std::string entry_for_host(const std::vector<std::string>& entries, std::string_view host);

}  // namespace pbs::host
