#include "ifl/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "values/number.h"
#include "values/pbs_conf.h"
#include "values/text.h"

namespace pbs::ifl {

namespace {

Result<std::uint16_t> parse_port(std::string_view text, std::string_view where) {
    const auto port = values::digits<std::uint16_t>(text).value_or(0);
    if (port == 0) {
        return tl::unexpected(
            Error{PBSE_NOSERVER,
                  fmt::format("{}: a port number from 1 to 65535 expected, found \"{}\"", where, text)});
    }
    return port;
}

// The socket of the server with this home; empty: there is none.
std::string socket_of(const std::string& home) {
    const std::string path = home + "/server_priv/pbs.sock";
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) ? path : "";
}

std::string this_host() {
    char name[PBS_MAXHOSTNAME + 1] = {};
    if (gethostname(name, sizeof name - 1) != 0) return "localhost";
    return name;
}

bool same_host(std::string_view a, std::string_view b) {
    // either name may be the short form of the other
    const bool short_name = a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
    if (short_name) {
        a = a.substr(0, a.find('.'));
        b = b.substr(0, b.find('.'));
    }
    return values::same_word(a, b);
}

struct HostPort {
    std::string host;
    std::uint16_t port = 0;
};

Result<HostPort> split_port(std::string_view server, std::uint16_t default_port) {
    const std::size_t colon = server.rfind(':');
    // more than one colon: an IPv6 address, whose port needs brackets before it: [::1]:15001
    const bool bracketed = server.starts_with('[');
    const bool bare_ipv6 = !bracketed && colon != server.find(':');
    const std::size_t closing = server.rfind(']');
    HostPort result{std::string(server), default_port};
    if (colon != std::string_view::npos && !bare_ipv6 && (!bracketed || colon == closing + 1)) {
        const auto port = parse_port(server.substr(colon + 1), fmt::format("server \"{}\"", server));
        if (!port) return tl::unexpected(port.error());
        result = {std::string(server.substr(0, colon)), *port};
    }
    if (bracketed && result.host.size() >= 2 && result.host.back() == ']') {
        result.host = result.host.substr(1, result.host.size() - 2);
    }
    return result;
}

}  // namespace

Environment process_environment() {
    return [](const char* name) -> std::string {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
        return value ? value : "";
    };
}

std::optional<std::string> conf_value(const Environment& environment, const std::string& name) {
    auto conf = values::read_pbs_conf(values::pbs_conf_path(environment("PBS_CONF_FILE")));
    const auto found = conf.find(name);
    if (found == conf.end()) return std::nullopt;
    return std::move(found->second);
}

Result<Settings> load_settings(const Environment& environment, const std::string& usual_home) {
    const std::string path = values::pbs_conf_path(environment("PBS_CONF_FILE"));
    const auto conf = values::read_pbs_conf(path);
    Settings settings;

    const std::string home = environment("PBS_HOME");
    if (!home.empty()) settings.socket = socket_of(home);
    for (const char* name : {"PBS_DEFAULT", "PBS_SERVER"}) {
        if (settings.server.empty()) settings.server = environment(name);
    }
    if (settings.server.empty()) {
        if (const auto found = conf.find("PBS_SERVER"); found != conf.end()) settings.server = found->second;
    }
    if (settings.server.empty() && home.empty()) settings.socket = socket_of(usual_home);

    if (const auto found = conf.find("PBS_SECONDARY"); found != conf.end() && conf.contains("PBS_PRIMARY"))
        settings.secondary = found->second;

    std::string where = "PBS_BATCH_SERVICE_PORT in the environment";
    std::string port = environment("PBS_BATCH_SERVICE_PORT");
    if (const auto found = conf.find("PBS_BATCH_SERVICE_PORT"); port.empty() && found != conf.end()) {
        where = "PBS_BATCH_SERVICE_PORT in " + path;
        port = found->second;
    }
    if (!port.empty()) {
        const auto number = parse_port(port, where);
        if (!number) return tl::unexpected(number.error());
        settings.port = *number;
    }

    if (const std::string exec = environment("PBS_EXEC"); !exec.empty()) {
        settings.exec = exec;
    } else if (const auto found = conf.find("PBS_EXEC"); found != conf.end()) {
        settings.exec = found->second;
    }
    const auto value = [&](const char* name) {
        std::string set = environment(name);
        const auto found = conf.find(name);
        return set.empty() && found != conf.end() ? found->second : set;
    };
    if (std::string method = method_name(value("PBS_AUTH_METHOD")); !method.empty())
        settings.auth_method = std::move(method);
    settings.encrypt_method = method_name(value("PBS_ENCRYPT_METHOD"));
    settings.munge_socket = value("PBS_MUNGE_SOCKET");
    settings.tls_authorities = value("PBS_TLS_CA");
    settings.tls_name = value("PBS_TLS_NAME");
    return settings;
}

std::string default_server(const Settings& settings) {
    if (settings.server.empty() && !settings.socket.empty()) return this_host();
    return settings.server;
}

Result<ServerAddress> server_address(std::string_view server, const Settings& settings) {
    const bool is_default = server.empty();
    const std::string name = is_default ? default_server(settings) : std::string(server);
    if (name.empty()) {
        return tl::unexpected(Error{PBSE_NOSERVER,
                                    "no server: PBS_HOME has no server's socket, and neither PBS_DEFAULT nor "
                                    "PBS_SERVER is set in the environment, nor PBS_SERVER in pbs.conf"});
    }
    auto parts = split_port(name, settings.port);
    if (!parts) return tl::unexpected(parts.error());
    const bool local =
        is_default || name == default_server(settings) ||
        (name == parts->host && (same_host(name, "localhost") || same_host(name, this_host())));
    return ServerAddress{local ? settings.socket : std::string(), std::move(parts->host), parts->port};
}

}  // namespace pbs::ifl
