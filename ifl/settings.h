// Finds the server's address and other settings in the environment and in pbs.conf.
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
/// The server's home in an installed package.
inline constexpr const char* kUsualHome = "/var/spool/pbspolicy";

struct Settings {
    std::string socket;     ///< the Unix socket of a server on this host; empty: none
    std::string server;     ///< name of the default server; empty: not set
    std::string secondary;  ///< the host that takes over in a failover pair; empty: none
    std::uint16_t port = kDefaultPort;
    std::string exec;                               ///< prefix whose sbin has pbs_iff; empty: not set
    std::string auth_method = kReservedPortMethod;  ///< authentication method over TCP
    std::string encrypt_method;                     ///< PBS_ENCRYPT_METHOD; empty: no encryption
    std::string munge_socket;                       ///< munged's socket; empty: libmunge's default
    std::string tls_authorities;                    ///< a PEM file of trusted authorities; empty: the
                                                    ///< system's
    std::string tls_name;                           ///< name expected in the server's certificate; empty: the
                                                    ///< server's own
};

/// Returns the value of an environment variable; empty if it isn't set.
using Environment = std::function<std::string(const char* name)>;
Environment process_environment();

/// Loads the settings from the environment: PBS_HOME (whose socket is used if it exists), PBS_DEFAULT,
/// PBS_SERVER, PBS_BATCH_SERVICE_PORT, PBS_EXEC, PBS_AUTH_METHOD, PBS_ENCRYPT_METHOD, PBS_MUNGE_SOCKET,
/// PBS_TLS_CA and PBS_TLS_NAME. A variable that isn't set there, except PBS_HOME and PBS_DEFAULT, is read
/// from the file that PBS_CONF_FILE names, else from /etc/pbs.conf, which may be missing. PBS_PRIMARY and
/// PBS_SECONDARY of the file name a failover pair. If nothing names a server, the socket of `usual_home` is
/// used, if it exists. Errors: PBSE_NOSERVER for an invalid port, naming where it is set.
Result<Settings> load_settings(const Environment& environment, const std::string& usual_home = kUsualHome);

/// The value of a name in pbs.conf (the file that PBS_CONF_FILE names, else /etc/pbs.conf); nullopt: the file
/// doesn't set it.
std::optional<std::string> conf_value(const Environment& environment, const std::string& name);

struct ServerAddress {
    std::string socket;  ///< path of a Unix socket, or empty: TCP to host and port
    std::string host;    ///< also the name in messages
    std::uint16_t port = 0;
};

/// The address of the server that `server` names: empty for the default one, else "host" or "host:port". The
/// default server, or this host by name, is reached through the settings' socket, if there is one. Errors:
/// PBSE_NOSERVER.
Result<ServerAddress> server_address(std::string_view server, const Settings& settings);

/// The default server's name: the settings', else this host's if there is a socket; empty: there is none.
std::string default_server(const Settings& settings);

}  // namespace pbs::ifl
