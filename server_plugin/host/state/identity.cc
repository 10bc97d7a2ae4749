#include "server_plugin/host/state/identity.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <optional>

#include "values/text.h"

namespace pbs::host {
namespace {

constexpr std::size_t kWholeHost = static_cast<std::size_t>(-1);

// The closeness with which an entry of an access list matches a user's name. The closest of the matching
// entries decides.
struct Fit {
    bool user = false;     // the entry names the user
    std::size_t host = 0;  // how many characters of the host the entry names; kWholeHost: all of them
    auto operator<=>(const Fit&) const = default;
};

// Returns how closely the host of an entry matches `host`; nullopt: it doesn't match. "*" and "" match every
// host. "*.domain" and ".domain" match every host below the domain. Names are compared completely: "node1"
// isn't "node1.example.org", which may be another machine.
std::optional<std::size_t> host_fit(std::string_view pattern, std::string_view host) {
    if (pattern.empty() || pattern == "*") return 0;
    if (pattern.front() == '*') pattern.remove_prefix(1);
    if (pattern.front() != '.') return same_name(pattern, host) ? std::optional(kWholeHost) : std::nullopt;
    if (host.size() <= pattern.size() || !same_name(host.substr(host.size() - pattern.size()), pattern))
        return std::nullopt;
    return pattern.size();
}

std::optional<Fit> user_fit(std::string_view pattern, std::string_view user_at_host) {
    const auto at = user_at_host.find('@');
    const std::string_view user = user_at_host.substr(0, at);
    const std::string_view host = at == std::string_view::npos ? "" : user_at_host.substr(at + 1);
    const auto pattern_at = pattern.find('@');
    const std::string_view wanted = pattern.substr(0, pattern_at);
    const bool every_user = wanted.empty() || wanted == "*";
    if (!every_user && wanted != user) return std::nullopt;
    const auto fit =
        host_fit(pattern_at == std::string_view::npos ? "" : pattern.substr(pattern_at + 1), host);
    if (!fit) return std::nullopt;
    return Fit{!every_user, *fit};
}

std::optional<Fit> fit_of(std::string_view entry, std::string_view name, AclKind kind) {
    if (kind == AclKind::user) return user_fit(entry, name);
    if (kind == AclKind::group)
        return entry == name || entry == "*" ? std::optional(Fit{entry == name, 0}) : std::nullopt;
    const auto host = host_fit(entry, name);
    return host ? std::optional(Fit{false, *host}) : std::nullopt;
}

bool legal_host(std::string_view host) {
    if (host == "*") return true;
    if (host.starts_with("*.")) host.remove_prefix(2);
    if (host.empty() || host.front() == '.' || host.back() == '.' ||
        host.find("..") != std::string_view::npos)
        return false;
    // Accept letters, digits, '-' and '.'; '_', which is illegal but occurs in machines' names; and ':',
    // which numeric addresses have.
    return std::ranges::all_of(
        host, [](char c) { return values::is_alnum(c) || c == '-' || c == '.' || c == '_' || c == ':'; });
}

}  // namespace

bool acl_allows(const std::vector<std::string>& entries, std::string_view name, AclKind kind) {
    bool allowed = false;
    std::optional<Fit> closest;
    for (std::string_view entry : entries) {
        bool allow = true;
        if (entry.starts_with('+') || entry.starts_with('-')) {
            allow = entry.front() == '+';
            entry.remove_prefix(1);
            if (entry.empty()) {
                if (!closest) allowed = allow;
                continue;
            }
        }
        const auto fit = fit_of(entry, name, kind);
        if (!fit || (closest && *fit <= *closest)) continue;
        closest = fit;
        allowed = allow;
    }
    return allowed;
}

bool legal_manager_entry(std::string_view entry) {
    if (entry.starts_with('+') || entry.starts_with('-')) entry.remove_prefix(1);
    const auto at = entry.find('@');
    if (at == std::string_view::npos) return false;
    const std::string_view user = entry.substr(0, at);
    const std::string_view host = entry.substr(at + 1);
    if (!legal_host(host)) return false;
    // Permit "@host", which means every user of a host, but not "@*".
    if (user.empty()) return host.front() != '*';
    return user.find_first_of("*+ \t\"'") == std::string_view::npos && user.front() != '-';
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

std::string name_of_other_host(const State& state, std::string name, std::string address) {
    const std::string_view own = state.host_name;
    const bool mine = same_name(name, own) || same_name(name, own.substr(0, own.find('.')));
    return mine ? std::move(address) : std::move(name);
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
