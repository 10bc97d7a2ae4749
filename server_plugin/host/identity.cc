#include "server_plugin/host/identity.h"

namespace pbs::host {
namespace {

bool host_fits(std::string_view pattern, std::string_view host) {
    if (pattern.empty() || pattern == "*") return true;
    if (pattern.front() == '*') pattern.remove_prefix(1);
    if (pattern.front() == '.')
        return host.size() > pattern.size() && same_name(host.substr(host.size() - pattern.size()), pattern);
    return same_name(pattern, host) || same_name(pattern, host.substr(0, host.find('.')));
}

bool user_fits(std::string_view pattern, std::string_view user_at_host) {
    const auto at = user_at_host.find('@');
    const std::string_view user = user_at_host.substr(0, at);
    const std::string_view host = at == std::string_view::npos ? "" : user_at_host.substr(at + 1);
    const auto pattern_at = pattern.find('@');
    const std::string_view pattern_user = pattern.substr(0, pattern_at);
    const std::string_view pattern_host =
        pattern_at == std::string_view::npos ? "" : pattern.substr(pattern_at + 1);
    return (pattern_user.empty() || pattern_user == "*" || pattern_user == user) &&
           host_fits(pattern_host, host);
}

}  // namespace

bool acl_allows(const std::vector<std::string>& entries, std::string_view name, AclKind kind) {
    for (std::string_view entry : entries) {
        bool allow = true;
        if (entry.starts_with('+') || entry.starts_with('-')) {
            allow = entry.front() == '+';
            entry.remove_prefix(1);
        }
        const bool fits = kind == AclKind::user   ? user_fits(entry, name)
                          : kind == AclKind::host ? host_fits(entry, name)
                                                  : entry == name || entry == "*";
        if (fits) return allow;
    }
    return false;
}

bool legal_manager_entry(std::string_view entry) {
    const auto at = entry.find('@');
    if (at == std::string_view::npos || at == 0 || at + 1 == entry.size()) return false;
    const std::string_view host = entry.substr(at + 1);
    return host.find('@') == std::string_view::npos && host.find('*', 1) == std::string_view::npos;
}

uint32_t privilege_of(const State& state, std::string_view starter, std::string_view user,
                      std::string_view host) {
    uint32_t privilege = privilege_none;
    const bool here = same_name(host, state.host_name);
    if (here && user == "root") privilege |= privilege_root | privilege_manager | privilege_operator;
    if (here && user == starter) privilege |= privilege_manager | privilege_operator;
    const std::string name = std::string(user) + "@" + std::string(host);
    if (acl_allows(state.server.list("managers"), name, AclKind::user))
        privilege |= privilege_manager | privilege_operator;
    if (acl_allows(state.server.list("operators"), name, AclKind::user)) privilege |= privilege_operator;
    return privilege;
}

std::string entry_for_host(const std::vector<std::string>& entries, std::string_view host) {
    std::string bare;
    for (const std::string& entry : entries) {
        const auto at = entry.find('@');
        if (at == std::string::npos) {
            bare = entry;
        } else if (same_name(std::string_view(entry).substr(at + 1), host)) {
            return entry.substr(0, at);
        }
    }
    return bare;
}

}  // namespace pbs::host
