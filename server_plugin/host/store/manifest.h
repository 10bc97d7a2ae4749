// The list of a backup's contents, in the file MANIFEST of its directory.
//
// The file has lines of "name value". The line of a database has its file name, the version of its format,
// its size in bytes, and the 64-bit FNV-1a sum of its bytes, in hexadecimal:
//   pbspolicy-backup 1
//   program 0.1.0
//   date 2026-11-21T12:00:00Z
//   home /var/spool/pbs
//   revision 17
//   integrity ok
//   database server.db 2 40960 cbf29ce484222325
//   database policy.db 2 20480 84222325cbf29ce4
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// The databases of a home, in the order of locking.
inline constexpr std::string_view kDatabaseNames[] = {"server.db", "policy.db"};

struct Manifest {
    struct Database {
        std::string name;
        int64_t version = 0;  // PRAGMA user_version
        uint64_t size = 0;    // bytes
        uint64_t sum = 0;     // FNV-1a
        bool operator==(const Database&) const = default;
    };
    std::string program;   // the version of the pbs_server that made the backup
    std::string date;      // UTC, ISO 8601
    std::string home;      // the home of the databases
    int64_t revision = 0;  // revision of the policy objects' configuration
    std::vector<Database> databases;

    std::string text() const;
    // Reads a manifest. Errors name the line and what is expected.
    static Result<Manifest> parse(std::string_view text);
    const Database* find(std::string_view name) const;
    bool operator==(const Manifest&) const = default;
};

// Computes size and sum of a file; leaves `version` 0. Errors name the file.
Result<Manifest::Database> measure(const std::string& directory, std::string_view name);

}  // namespace pbs::host
