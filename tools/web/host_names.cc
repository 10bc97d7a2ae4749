#include "tools/web/host_names.h"

#include <arpa/inet.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "values/text.h"

namespace pbs::web {
namespace {

// Returns the four or sixteen bytes of a numeric address; empty: the text is none.
std::string address_bytes(std::string_view text) {
    const std::string whole(text);
    std::array<char, 16> bytes{};
    if (inet_pton(AF_INET, whole.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
    if (inet_pton(AF_INET6, whole.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
    return {};
}

bool is_loopback(std::string_view bytes) {
    if (bytes.size() == 4) return bytes.front() == 127;
    return bytes.size() == 16 && bytes.back() == 1 &&
           bytes.substr(0, 15).find_first_not_of('\0') == std::string_view::npos;
}

// Returns the host without a port or final dot behind it: "host:80", "[::1]:80", "host.".
std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        return end == std::string_view::npos ? host : host.substr(1, end - 1);
    }
    host = host.substr(0, host.find(':'));
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

std::string machine_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace

HostNames::HostNames(std::string_view listens_on, std::vector<std::string> names)
    : listens_on_(address_bytes(listens_on)),
      all_(!listens_on_.empty() && listens_on_.find_first_not_of('\0') == std::string::npos) {
    names.emplace_back("localhost");
    if (listens_on_.empty()) names.emplace_back(listens_on);
    if (all_) {
        const std::string machine = machine_name();
        names.push_back(machine);
        names.push_back(machine.substr(0, machine.find('.')));
    }
    for (const std::string& name : names)
        if (!name.empty()) names_.push_back(values::lowered(without_port(name)));
}

bool HostNames::has(std::string_view host) const {
    const std::string_view name = without_port(host);
    const std::string bytes = address_bytes(name);
    if (!bytes.empty()) return all_ || bytes == listens_on_ || is_loopback(bytes);
    return std::ranges::find(names_, values::lowered(name)) != names_.end();
}

bool is_host_name(std::string_view text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '.' || c == '_';
    };
    return !text.empty() && text.size() <= 253 && text.front() != '.' && std::ranges::all_of(text, plain);
}

}  // namespace pbs::web
