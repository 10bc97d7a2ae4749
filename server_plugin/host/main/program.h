// Runs the server: connects its parts by one event loop.
//
// The folder main/ has the program pbs_server. main.cc reads its options. Program locks PBS_HOME, checks and
// loads the database, recovers jobs, loads the plugin and opens the network (start.cc). Then it runs the loop
// until a Shutdown request or a signal (program.cc). The loop handles requests as they come. At each tick,
// usually once a second, it handles the ends of jobs, and checks whether times, cycles or other servers
// demand work. Backups and restores need no running server (offline.cc).
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

struct ProgramOptions {
    std::string home;
    uint16_t port = 15001;  // 0: any free one
    std::string plugin;     // empty: pbs_policy.so beside this program, or in ../lib/pbspolicy
    std::string bind = "127.0.0.1";
    std::string name;  // empty: this host's name up to the first dot
    bool daemon = false;
    uint32_t idle_timeout = 900;            // seconds until a connection without requests is closed; 0: never
    std::string auth_methods = "resvport";  // methods of authentication for clients over TCP
    std::string munge_socket;               // empty: libmunge's usual one
    std::string tls_certificate;            // PEM; empty: there is no TLS
    std::string tls_key;
    std::string tls_required;  // clients that have to use TLS: none, remote or all; empty: none
    int64_t clock_offset = 0;
    std::string clock_file;
};

// Runs the server until SIGTERM, SIGINT or qterm. Running jobs go on, and the next start finds them. Error:
// the reason why the server couldn't start.
Result<void> run_server(const ProgramOptions& options);

// Copies the databases of options.home to a new directory, whether a server runs there or not (backup.h).
// Reports on stdout.
Result<void> run_backup(const ProgramOptions& options, const std::string& directory);

// Restores a backup to options.home (backup.h). Reports on stdout. REQUIRES: no server runs there.
Result<void> run_restore(const ProgramOptions& options, const std::string& directory);

// Accepts that the databases of options.home have lost acknowledged changes, so that the server can start
// again (backup.h). Reports the losses on stdout and in the log. REQUIRES: no server runs there.
Result<void> run_accept_loss(const ProgramOptions& options);

}  // namespace pbs::host
