// pbs_server: puts the parts together around one event loop.
//
// The room main/ is the program. main.cc reads its options; Program locks the home, checks and loads the
// database, recovers jobs, loads the plugin and opens the network (start.cc), and runs the loop until a
// Shutdown request or a signal (program.cc): requests as they come, and at each tick ends of jobs, times,
// cycles and peers. Backups and restores need no server (offline.cc).
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
    uint32_t idle_timeout = 900;  // seconds until a connection that asks for nothing is closed; 0: never
    std::string auth_methods = "resvport";  // methods by which clients over TCP may be authenticated
    std::string munge_socket;               // empty: libmunge's usual one
    std::string tls_certificate;            // PEM; empty: there is no TLS
    std::string tls_key;
    std::string tls_required;  // clients that have to use TLS: none, remote or all; empty: none
    int64_t clock_offset = 0;
    std::string clock_file;
};

// Runs the server until it is told to stop (SIGTERM, SIGINT, qterm). Running jobs go on, and the next start
// finds them. An error says why it couldn't start.
Result<void> run_server(const ProgramOptions& options);

// Copies the databases of options.home into a new directory, whether a server runs there or not (backup.h).
// Reports on stdout.
Result<void> run_backup(const ProgramOptions& options, const std::string& directory);

// Puts a backup into options.home, on which no server may run (backup.h). Reports on stdout.
Result<void> run_restore(const ProgramOptions& options, const std::string& directory);

// Lets options.home, on which no server may run, go on without acknowledged changes that it has lost
// (backup.h). Reports them on stdout and in the log.
Result<void> run_accept_loss(const ProgramOptions& options);

}  // namespace pbs::host
