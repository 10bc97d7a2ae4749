// Where the server is: the environment and pbs.conf.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/auth_method.h"
#include "ifl/error.h"

namespace pbs::ifl {

inline constexpr std::uint16_t kDefaultPort = 15001;
/// Where the server of an installed package keeps its home.
inline constexpr const char* kUsualHome = "/var/spool/pbspolicy";

struct Settings {
    std::string socket;     ///< the Unix socket of PBS_HOME; empty: none
    std::string server;     ///< name of the default server; empty: none is set
    std::string secondary;  ///< the host that takes over from it in a failover pair; empty: there is none
    std::uint16_t port = kDefaultPort;
    std::string exec;                               ///< prefix whose sbin has pbs_iff; empty: none is set
    std::string auth_method = kReservedPortMethod;  ///< how a server over TCP is told who the user is
    std::string encrypt_method;                     ///< PBS_ENCRYPT_METHOD; empty: none is asked for
    std::string munge_socket;                       ///< munged's; empty: that of libmunge
    std::string tls_authorities;                    ///< a PEM file of authorities; empty: the system's
    std::string tls_name;                           ///< of servers' certificates; empty: the server's own
};

/// The value of an environment variable; empty when it isn't set.
using Environment = std::function<std::string(const char* name)>;
Environment process_environment();

/// The settings: PBS_HOME (whose socket counts if it exists), PBS_DEFAULT, PBS_SERVER,
/// PBS_BATCH_SERVICE_PORT, PBS_EXEC, PBS_AUTH_METHOD, PBS_ENCRYPT_METHOD, PBS_MUNGE_SOCKET, PBS_TLS_CA and
/// PBS_TLS_NAME of the environment; for those not set there but PBS_HOME, of the file that PBS_CONF_FILE
/// names, else /etc/pbs.conf, which may be missing. PBS_PRIMARY and PBS_SECONDARY of the file name a failover
/// pair. Where nothing names a server, the socket of `usual_home` counts, if it exists. Errors: PBSE_NOSERVER
/// for a port that is none, naming where it is set.
Result<Settings> load_settings(const Environment& environment, const std::string& usual_home = kUsualHome);

/// The value of a name in pbs.conf (the file that PBS_CONF_FILE names, else /etc/pbs.conf); nullopt if it
/// isn't there.
std::optional<std::string> conf_value(const Environment& environment, const std::string& name);

/// A server's address.
struct ServerAddress {
    std::string socket;  ///< path of a Unix socket, or empty: TCP to host and port
    std::string host;    ///< also the name for messages
    std::uint16_t port = 0;
};

/// Finds the server that `server` names: empty for the default one, else "host" or "host:port". A default
/// server, or this host by name, is reached through the socket of the settings, if there is one. Errors:
/// PBSE_NOSERVER.
Result<ServerAddress> server_address(std::string_view server, const Settings& settings);

/// The default server's name: that of the settings, or this host's when there is a socket; empty if there is
/// none.
std::string default_server(const Settings& settings);

}  // namespace pbs::ifl
